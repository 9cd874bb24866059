import assert from "node:assert/strict";
import { test } from "node:test";
import { refused } from "../js/api.js";

test("a refusal says what is wrong and what to do", () => {
  const problem = { code: 9641, name: "NoAgent", detail: "No such agent is known.", next: "Check the mint." };
  const error = refused(404, JSON.stringify(problem));
  assert.equal(error.message, "No such agent is known. Check the mint.");
  assert.deepEqual([error.status, error.code], [404, 9641]);
});

test("a page of somebody else is not shown", () => {
  for (const text of ["", "<html>Bad gateway</html>", "{}", "[]", '{"detail":7}']) {
    assert.equal(refused(502, text).message, "The indexer answered 502. Try again.", text);
  }
});
