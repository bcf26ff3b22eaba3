export default function Case() {
  return <h1>Case</h1>;
}
