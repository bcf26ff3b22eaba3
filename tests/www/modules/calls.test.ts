// Calls between a page and its worker.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { connect, type Endpoint, transfer } from "../../../www/src/worker/calls.js";

/** Both ends of a connection, each with what the other offers. */
function ends<A extends object, B extends object>(t: TestContext, a: A, b: B) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  for (const port of [port1, port2]) port.start();
  return {
    a: connect<A>(port2 as unknown as Endpoint, { ...b } as never),
    b: connect<B>(port1 as unknown as Endpoint, { ...a } as never),
  };
}

test("either end calls what the other offers", async (t) => {
  const worker = { double: (value: number) => 2 * value, later: async (text: string) => `${text}!` };
  const page = { ask: (question: string) => `${question}: yes` };
  const { a, b } = ends(t, worker, page);
  assert.deepEqual(await Promise.all([a.double(2), a.later("now"), b.ask("well"), a.double(4)]), [
    4,
    "now!",
    "well: yes",
    8,
  ]);
});

test("what is thrown comes back as a failure", async (t) => {
  const fails = () => {
    throw new RangeError("there is none");
  };
  const { a } = ends(t, { fails, loses: async () => Promise.reject(new Error("lost")) }, {});
  await assert.rejects(a.fails(), /there is none/);
  await assert.rejects(a.loses(), /lost/);
});

test("buffers that are to move are not copied, on the way there and back", async (t) => {
  const given: ArrayBufferLike[] = [];
  const columns = () => {
    const scores = new Float64Array([1, 2]);
    given.push(scores.buffer);
    return transfer({ scores }, [scores.buffer]);
  };
  const { a } = ends(t, { columns, sum: ({ scores }: { scores: Float64Array }) => scores.reduce((x, y) => x + y) }, {});
  const { scores } = await a.columns();
  assert.deepEqual([...scores], [1, 2]);
  assert.equal(given[0]?.byteLength, 0);
  assert.equal(await a.sum(transfer({ scores }, [scores.buffer])), 3);
  assert.equal(scores.byteLength, 0);
});
