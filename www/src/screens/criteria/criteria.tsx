export default function Criteria() {
  return <h1>Criteria</h1>;
}
