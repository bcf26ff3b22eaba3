export default function Edit() {
  return <h1>Edit</h1>;
}
