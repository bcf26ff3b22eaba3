import { rouge1 } from "adk-metrics";

export const dynamic = "force-dynamic";
export const GET = () => Response.json(rouge1("The weather is sunny", "It is sunny"));
