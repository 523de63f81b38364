import { expect, test } from "vitest";
import { newPerson, withMyself, withPeople } from "../../apps/dashboard/src/features/send/document/people.ts";
import type { Draft } from "../../apps/dashboard/src/features/templates/model.ts";
import { takeProposals, takesForm } from "../../apps/dashboard/src/features/templates/proposals.ts";
import {
  defaultSettings,
  FieldProposals,
  OverlayItem,
  Role,
  templateLimits,
} from "../../server/features/templates/contract.ts";

const box = { page: 1, x: 10, y: 10, width: 100, height: 20 };
const draft = (roles: string[], items: object[] = []): Draft => ({
  name: "Contract",
  file: "tfl_1",
  items: items.map((item) => OverlayItem.parse({ ...box, ...item })),
  roles: roles.map((name, index) => Role.parse({ name, order: index + 1 })),
  variables: [],
  settings: defaultSettings,
});
const proposed = (...fields: [id: string, role: string, source: "form" | "tag" | "line"][]) =>
  FieldProposals.parse({
    data: fields.map(([id, role, source]) => ({ field: { ...box, id, role, type: "signature" }, source })),
    roles: [...new Set(fields.map(([, role]) => role))],
  });
const shape = ({ roles, items }: Draft) => ({
  roles: roles.map(({ name, order }) => `${order} ${name}`),
  fields: items.map((item) => `${item.id} ${"role" in item ? item.role : ""}`),
});

test("fields without a party go to the draft's own role; a party that the document names gives its name to an unused role", () => {
  expect(shape(takeProposals(draft(["Customer"]), proposed(["a", "Signer 1", "form"])))).toEqual({
    roles: ["1 Customer"],
    fields: ["a Customer"],
  });
  expect(shape(takeProposals(draft(["Signer 1"]), proposed(["a", "Buyer", "tag"], ["b", "Seller", "tag"])))).toEqual({
    roles: ["1 Buyer", "2 Seller"],
    fields: ["a Buyer", "b Seller"],
  });
  const used = draft(["Customer"], [{ id: "own", type: "initials", role: "Customer" }]);
  expect(shape(takeProposals(used, proposed(["a", "Buyer", "tag"], ["own", "Buyer", "tag"])))).toEqual({
    roles: ["1 Customer"],
    fields: ["own Customer", "a Customer"],
  });
});

test("what is there already is not taken twice, and never more than a template can have", () => {
  const once = takeProposals(draft(["Buyer"]), proposed(["a", "Buyer", "tag"]));
  expect(takeProposals(once, proposed(["a", "Buyer", "tag"]))).toBe(once);
  const full = Array.from({ length: templateLimits.fields - 1 }, (_, n) => ({
    id: `f${n}`,
    type: "initials",
    role: "Buyer",
  }));
  const taken = takeProposals(draft(["Buyer"], full), proposed(["a", "Buyer", "line"], ["b", "Buyer", "line"]));
  expect(taken.items).toHaveLength(templateLimits.fields);
});

test("the form is replaced as soon as one of its fields is taken", () => {
  const found = proposed(["a", "Buyer", "form"], ["b", "Buyer", "line"]);
  const beside = { id: "b", type: "initials", role: "Buyer", y: 200 };
  expect(takesForm(draft(["Buyer"], [beside]), found)).toBe(false);
  // One that lies on a field of the form replaces it, too, as when it is published.
  expect(takesForm(draft(["Buyer"], [{ ...beside, y: 15 }]), found)).toBe(true);
  expect(takesForm(takeProposals(draft(["Buyer"]), found), found)).toBe(true);
});

test("each person of a document is a role, called by the person's name; who goes takes the fields along", () => {
  const first = newPerson([], "Signer");
  const both = withMyself([first, newPerson([first], "Signer")], { name: "Olive", email: "o@example.com" }, "Signer");
  expect(both.map(({ role, name }) => `${role}: ${name}`)).toEqual(["Signer 1: Olive", "Signer 2: "]);
  const three = withMyself(
    both.map((person) => ({ ...person, name: "X" })),
    { name: "Me", email: "m@example.com" },
    "Signer",
  );
  expect(three.at(-1)).toMatchObject({ role: "Signer 3", name: "Me" });
  const before = draft(
    ["Signer 1", "Signer 9"],
    [
      { id: "a", type: "initials", role: "Signer 9" },
      { id: "t", type: "text", text: "x" },
    ],
  );
  const after = withPeople(before, [
    { ...first, name: "Ada\nBad" },
    { ...newPerson([first], "Signer"), name: "Ben", together: true },
  ]);
  expect(after.roles.map(({ name, label, order }) => [name, label, order])).toEqual([
    ["Signer 1", "Ada Bad", 1],
    ["Signer 2", "Ben", 1],
  ]);
  expect(after.items.map(({ id }) => id)).toEqual(["t"]);
  expect(
    withPeople(after, [
      { ...first, name: "Ada\nBad" },
      { ...newPerson([first], "Signer"), name: "Ben", together: true },
    ]),
  ).toBe(after);
});
