import { rouge1 } from "adk-metrics";

export default defineEventHandler(() => rouge1("The weather is sunny", "It is sunny"));
