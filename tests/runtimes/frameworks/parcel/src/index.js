import { rouge1 } from "adk-metrics";

document.querySelector("#client").textContent = String(rouge1("The weather is sunny", "It is sunny").fmeasure);
