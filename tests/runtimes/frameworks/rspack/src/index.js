import { rouge1 } from "adk-metrics";

const output = document.createElement("output");
output.id = "client";
output.textContent = String(rouge1("The weather is sunny", "It is sunny").fmeasure);
document.body.append(output);
