import { rouge1 } from "adk-metrics";

export const load = () => ({ score: rouge1("The weather is sunny", "It is sunny").fmeasure });
