import { rouge1 } from "adk-metrics";
import { Score } from "./score.js";

export const dynamic = "force-dynamic";

export default function Page() {
  return (
    <main>
      <output id="server">{rouge1("The weather is sunny", "It is sunny").fmeasure}</output>
      <Score />
    </main>
  );
}
