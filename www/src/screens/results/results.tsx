import { summary, verdicts } from "../../state/run.js";
import { Status } from "../../ui/status.js";

export default function Results() {
  const run = summary.value;
  const statuses = verdicts.value;
  if (run === undefined || statuses === undefined) return <h1>Results</h1>;
  return (
    <>
      <h1>Results</h1>
      <table>
        <thead>
          <tr>
            <th>Case</th>
            {run.metrics.map(({ name }) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {run.cases.map(({ evalId }, row) => (
            <tr key={row}>
              <th>
                <Status of={statuses.cases[row] ?? 0} /> {evalId}
              </th>
              {run.metrics.map(({ name }, column) => (
                <td key={name} class="number">
                  {run.scores[row * run.metrics.length + column]?.toFixed(3)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
