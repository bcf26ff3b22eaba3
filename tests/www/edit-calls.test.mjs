// Expected tool calls that are edited as a form, by what the files tell of the tools.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { playground, skip, violations } from "./support.mjs";

const { readEvalSet } = await importEntry();

const EVAL_SET = `{
  "eval_set_id": "ferry",
  "eval_cases": [
    {
      "eval_id": "uses",
      "conversation": [
        {
          "user_content": {"parts": [{"text": "Two seats, please."}]},
          "final_response": {"parts": [{"text": "Booked."}]},
          "intermediate_data": {"tool_uses": [
            {"id": "c1", "name": "book", "args": {"seats": 2, "customer": 12345678901234567890, "note": "at the window"}},
            {"name": "pay", "args": {}}
          ]}
        }
      ]
    },
    {
      "eval_id": "events",
      "conversation": [
        {
          "user_content": {"parts": [{"text": "One seat."}]},
          "final_response": {"parts": [{"text": "Booked."}]},
          "intermediate_data": {"invocation_events": [
            {"author": "clerk", "content": {"parts": [{"text": "A moment."}, {"function_call": {"name": "book", "args": {"seats": 1}}}]}},
            {"author": "clerk", "content": {"parts": [{"function_call": {"name": "pay", "args": {}}}]}}
          ]}
        }
      ]
    }
  ]
}`;

/** What the agent did, with the tools that it was given. */
const ACTUAL = {
  eval_set_id: "ferry",
  eval_cases: [
    {
      eval_id: "uses",
      conversation: [
        {
          user_content: { parts: [{ text: "Two seats, please." }] },
          final_response: { parts: [{ text: "Booked." }] },
          app_details: {
            agent_details: {
              clerk: {
                name: "clerk",
                tool_declarations: [
                  {
                    function_declarations: [
                      {
                        name: "book",
                        description: "Books seats on a ferry.",
                        parameters: {
                          type: "OBJECT",
                          properties: {
                            seats: { type: "INTEGER", description: "How many." },
                            deck: { type: "STRING", enum: ["sun", "shade"] },
                            isReturn: { type: "BOOLEAN" },
                          },
                          required: ["seats"],
                        },
                      },
                    ],
                  },
                ],
              },
            },
          },
        },
      ],
    },
  ],
};

const file = (name, text) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) });

describe("expected tool calls as a form", { skip }, () => {
  const site = playground();

  async function editing(evalId) {
    const page = await site.open();
    await page
      .getByLabel("Choose files")
      .setInputFiles([file("ferry.evalset.json", EVAL_SET), file("ferry.actual.json", JSON.stringify(ACTUAL))]);
    await page.getByRole("button", { name: /^Score \d+ cases?$/ }).waitFor();
    await page.evaluate(() => {
      location.hash = "#/edit";
    });
    const cases = page.getByRole("navigation", { name: "Cases of the evalset" });
    await cases.getByRole("link", { name: new RegExp(`^${evalId} `) }).click();
    await page.getByRole("region", { name: `Case ${evalId}` }).waitFor();
    await page.getByRole("group", { name: "Call 1" }).waitFor();
    return page;
  }

  async function exported(page) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export evalset" }).click(),
    ]);
    const text = readFileSync(await download.path(), "utf8");
    const named = Object.fromEntries(readEvalSet(text).evalCases.map((one) => [one.evalId, one]));
    return { text, data: (evalId) => named[evalId].conversation[0].intermediateData };
  }

  /** Leaves the field that has the focus, and waits until the change is made. */
  async function leave(page) {
    const undo = page.getByRole("button", { name: "Undo" });
    await page.getByLabel("Eval id").focus();
    await undo.and(page.locator(":enabled")).waitFor();
  }

  test("has a field for each argument that the tool declares, and for what else is there", async () => {
    const page = await editing("uses");
    const call = page.getByRole("group", { name: "Call 1" });
    await call.getByText("Books seats on a ferry.").waitFor();
    await call.getByText("How many.").waitFor();
    assert.deepEqual(await violations(page), []);
    await call.getByLabel("seats (required)").fill("3");
    await leave(page);
    await call.getByLabel("deck").selectOption("shade");
    await call.getByLabel("isReturn").selectOption("true");
    assert.equal(await call.getByLabel("customer").inputValue(), "12345678901234567890");
    await call.getByLabel("note").fill("");
    await leave(page);
    await call.getByText("Another argument").click();
    await call.getByLabel("Name of the argument").fill("price");
    await call.getByLabel("Type").selectOption("number");
    await call.getByRole("button", { name: "Add the argument" }).click();
    await call.getByLabel("price").fill("9.50");
    await leave(page);
    await call.getByLabel("note").waitFor({ state: "detached" });
    const { text, data } = await exported(page);
    assert.match(text, /"customer": 12345678901234567890/);
    assert.match(text, /"price": 9\.50/);
    const [{ id, args }] = data("uses").toolUses;
    assert.equal(id, "c1");
    assert.deepEqual({ ...args, customer: 0 }, { seats: 3, customer: 0, deck: "shade", isReturn: true, price: 9.5 });
    await site.done(page);
  });

  test("calls are added, moved and deleted; what cannot be says why and stays as it was typed", async () => {
    const page = await editing("uses");
    await page.getByLabel("Tool of a new call").fill("book");
    await page.getByRole("button", { name: "Add a call" }).click();
    const third = page.getByRole("group", { name: "Call 3" });
    await third.getByLabel("seats (required)").fill("many");
    await page.getByLabel("Eval id").focus();
    await page
      .getByRole("alert")
      .getByText(/the argument `seats` is no JSON value: many/)
      .waitFor();
    assert.equal(await third.getByLabel("seats (required)").inputValue(), "many");
    await third.getByLabel("seats (required)").fill("4");
    await leave(page);
    await page.getByRole("button", { name: "Move up call 2" }).click();
    await page.getByRole("group", { name: "Call 1" }).getByLabel("seats (required)").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Delete call 1" }).click();
    await third.waitFor({ state: "detached" });
    const { data } = await exported(page);
    assert.deepEqual(
      data("uses").toolUses.map(({ name, args }) => [name, args.seats]),
      [
        ["book", 2],
        ["book", 4],
      ],
    );
    await page.getByRole("button", { name: "Undo" }).click();
    await third.waitFor();
    await site.done(page);
  });

  test("calls in events are edited where they stand", async () => {
    const page = await editing("events");
    await page.getByRole("group", { name: "Call 1" }).getByLabel("seats (required)").fill("5");
    await leave(page);
    await page.getByRole("button", { name: "Delete call 2" }).click();
    await page.getByRole("group", { name: "Call 2" }).waitFor({ state: "detached" });
    await page.getByLabel("Tool of a new call").fill("wave");
    await page.getByRole("button", { name: "Add a call" }).click();
    await page.getByRole("group", { name: "Call 2" }).waitFor();
    const { invocationEvents } = (await exported(page)).data("events");
    assert.deepEqual(
      invocationEvents.map(({ author, content }) => [
        author,
        content.parts.map((part) => part.text ?? [part.functionCall.name, part.functionCall.args]),
      ]),
      [
        ["clerk", ["A moment.", ["book", { seats: 5 }]]],
        ["clerk", [["wave", {}]]],
      ],
    );
    await site.done(page);
  });
});
