import { json } from "@sveltejs/kit";
import { rouge1 } from "adk-metrics";

export const GET = () => json(rouge1("The weather is sunny", "It is sunny"));
