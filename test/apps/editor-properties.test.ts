import { describe, expect, test } from "vitest";
import { withCopies } from "../../apps/dashboard/src/features/canvas/items.ts";
import { compareVersions } from "../../apps/dashboard/src/features/templates/compare.ts";
import { problemsByMember, problemsOf } from "../../apps/dashboard/src/features/templates/explain.ts";
import {
  addItem,
  addOption,
  changeItem,
  type Draft,
  declareVariable,
  groupOf,
  numberFields,
  placeable,
  radioWith,
  removeItem,
  variablesUsed,
} from "../../apps/dashboard/src/features/templates/model.ts";
import {
  decidingFields,
  firstValues,
  renameValue,
  showWhen,
  valuesIn,
  writtenValues,
} from "../../apps/dashboard/src/features/templates/properties/conditions.ts";
import { checkFormula } from "../../apps/dashboard/src/features/templates/properties/formula-check.ts";
import { freeValue, optionLines } from "../../apps/dashboard/src/features/templates/properties/options.ts";
import { patternPresets, presetNames } from "../../apps/dashboard/src/features/templates/properties/patterns.ts";
import { sampleIn } from "../../apps/dashboard/src/features/templates/variable-formats.ts";
import { defaultSettings, OverlayItem, Role, Variable } from "../../server/features/templates/contract.ts";
import { textFaces } from "../../server/features/templates/fields.ts";
import { compilePattern, matches } from "../../server/features/templates/pattern.ts";
import { textFonts } from "../../workers/fonts.ts";

/** What the editor decides about the properties of items, without a browser. */

const page = { page: 1, width: 595, height: 842 };
const draftWith = (items: readonly object[], members: Partial<Draft> = {}): Draft => ({
  name: "Lease",
  file: "tfl_1",
  items: items.map((item) => OverlayItem.parse({ page: 1, x: 100, y: 100, width: 90, height: 20, ...item })),
  roles: [Role.parse({ name: "Tenant" })],
  variables: [],
  settings: defaultSettings,
  ...members,
});
const said = (draft: Draft) =>
  problemsOf(draft, [page], { noPicture: "Choose a picture." }).map(({ member, detail }) => `${member}: ${detail}`);
const role = "Tenant";

describe("what can be placed", () => {
  test("is every type of the contract, and can be published but for a picture that is not chosen", () => {
    const full = placeable.reduce(
      (draft, type, index) =>
        addItem(draft, type, { at: { page: 1, x: 200, y: 40 + index * 35 }, role, page, text: "Text" }).draft,
      draftWith([]),
    );
    const types = full.items.map((item) => ("data" in item ? "picture" : item.type));
    expect(types).toEqual([...placeable]);
    expect(said(full)).toEqual(["data: Choose a picture."]);
    expect(full.items.find(({ type }) => type === "formula")).toMatchObject({ expression: "number-1" });
    expect(numberFields(full.items)).toEqual(["number-1"]);
  });

  test("is set in the faces that the service has", () => {
    expect([...textFaces]).toEqual([...textFonts]);
  });
});

describe("the options of a choice", () => {
  const { draft, id } = addItem(draftWith([]), "radio", { at: { page: 1, x: 100, y: 100 }, role, page, text: "" });
  const radio = (of: Draft) => {
    const [item] = of.items;
    if (item?.type !== "radio") throw new Error("there is no choice");
    return item;
  };

  test("have boxes below each other, within the one around them, and move with it", () => {
    const three = changeItem(draft, id, addOption(radio(draft), "C", page));
    const boxes = radio(three).options.map(({ box }) => [box?.x, box?.y]);
    expect(boxes).toEqual([
      [93, 82],
      [93, 104],
      [93, 126],
    ]);
    expect(radio(three)).toMatchObject({ x: 93, y: 82, width: 14, height: 58 });
    const moved = radio(changeItem(three, id, { x: 103, y: 182 }));
    expect(moved.options.map(({ box }) => [box?.x, box?.y])).toEqual(boxes.map(([x = 0, y = 0]) => [x + 10, y + 100]));
    const below = (item: OverlayItem) => ({ ...item, y: item.y + item.height + 8 });
    const copied = withCopies(three.items, three.items, below)?.items[1];
    if (copied?.type !== "radio") throw new Error("nothing was copied");
    expect(copied.options[0]?.box?.y).toBe(copied.y);
    expect(said(three)).toEqual([]);
  });

  test("stand beside the last one where the page ends", () => {
    const low = changeItem(draft, id, { y: 800 });
    const added = radio(changeItem(low, id, addOption(radio(low), "C", page))).options[2]?.box;
    expect(added).toMatchObject({ x: 167, y: 822 });
  });

  test("that are moved one by one keep the box around them", () => {
    const [first, second] = radio(draft).options;
    if (!first?.box || !second) throw new Error("there are no options");
    const patch = radioWith([{ ...first, box: { ...first.box, x: 10, y: 20 } }, second]);
    expect(radio(changeItem(draft, id, patch))).toMatchObject({ x: 10, y: 20, width: 97, height: 98 });
  });

  test("come from lines of a list, each once", () => {
    expect(optionLines("  Bern \nBasel\r\n\nBern\nA", ["A"])).toEqual(["Bern", "Basel"]);
    expect(freeValue(["A", "C"])).toBe("B");
    expect(freeValue(Array.from({ length: 27 }, (_, n) => (n < 26 ? String.fromCharCode(65 + n) : "1")))).toBe("2");
  });
});

describe("a line in other words", () => {
  const pair = draftWith([
    { id: "w", type: "whiteout", group: "line-1" },
    { id: "t", type: "text", text: "New", original: "Old", group: "line-1", x: 101 },
  ]);

  test("moves and goes as one", () => {
    expect(changeItem(pair, "w", { x: 110, y: 90 }).items.map(({ x, y }) => [x, y])).toEqual([
      [110, 90],
      [111, 90],
    ]);
    expect(changeItem(pair, "t", { width: 200 }).items.map(({ width }) => width)).toEqual([90, 200]);
    expect(removeItem(pair, "t").items).toEqual([]);
    expect(said(pair)).toEqual([]);
  });

  test("is copied as a text that replaces nothing, and as a whole with what it covers", () => {
    const [whiteout, text] = pair.items;
    if (!whiteout || !text) throw new Error("there is no pair");
    const alone = withCopies(pair.items, [text], (item) => ({ ...item, y: item.y + 30 }))?.items[2];
    expect(alone).toMatchObject({ type: "text", text: "New" });
    expect(alone).not.toHaveProperty("group");
    expect(alone).not.toHaveProperty("original");
    const both = withCopies(pair.items, pair.items, (item) => ({ ...item, y: item.y + 30 }))?.items.slice(2);
    expect(both?.map(groupOf)).toEqual(["group-1", "group-1"]);
  });
});

test("problems are found before publishing, and by member", () => {
  const draft = draftWith([
    { id: "a", type: "text_input", role, minLength: 4, maxLength: 2 },
    { id: "b", type: "text", text: "{{rent}}", x: 590 },
  ]);
  const found = problemsOf(draft, [page], { noPicture: "" });
  expect(problemsByMember(found, "a")).toEqual({ minLength: "minLength is above maxLength." });
  expect(Object.keys(problemsByMember(found, "b"))).toEqual(["text", "width"]);
  // Before the document is there nothing is said about its pages.
  expect(problemsOf(draft, [], { noPicture: "" }).map(({ member }) => member)).toEqual(["minLength", "text"]);
  expect(said(declareVariable(draft, "rent")).some((one) => one.includes("rent"))).toBe(false);
});

describe("conditions", () => {
  const draft = draftWith([
    { id: "one", type: "checkbox", role },
    { id: "other", type: "checkbox", role: "Landlord" },
    { id: "sum", type: "number", role },
    { id: "me", type: "text_input", role },
    { id: "later", type: "checkbox", role },
  ]);
  const me = draft.items[3];
  if (me?.type !== "text_input") throw new Error("it is gone");

  test("hang on fields of the same role, which then come first, and never in a circle", () => {
    expect(decidingFields(draft.items, me).map(({ id }) => id)).toEqual(["one", "sum", "later"]);
    const [, number, later] = decidingFields(draft.items, me);
    if (!later || !number) throw new Error("there is none");
    const shown = showWhen(draft, "me", { field: later.id, in: firstValues(later) });
    expect(shown.items.map(({ id }) => id)).toEqual(["one", "other", "sum", "later", "me"]);
    expect(said(shown).filter((one) => one.includes("visibleWhen"))).toEqual([]);
    const chain = showWhen(shown, "later", { field: "sum", in: [1] });
    const sum = chain.items.find(({ id }) => id === "sum");
    if (sum?.type !== "number") throw new Error("it is gone");
    expect(decidingFields(chain.items, sum).map(({ id }) => id)).toEqual(["one"]);
    expect(showWhen(chain, "me", undefined).items.find(({ id }) => id === "me")).not.toHaveProperty("visibleWhen");
  });

  test("follow an option that is renamed, and read numbers one a line", () => {
    const listed = draftWith([
      { id: "list", type: "dropdown", role, options: [{ value: "A" }, { value: "B" }] },
      { id: "me", type: "date", role, visibleWhen: { field: "list", in: ["A", null] } },
    ]);
    expect(renameValue(listed, "list", "A", "Z").items[1]).toMatchObject({ visibleWhen: { in: ["Z", null] } });
    const number = draft.items[2];
    if (number?.type !== "number") throw new Error("it is gone");
    expect(valuesIn("1\n2.5\n\n1", number)).toEqual([1, 2.5, null]);
    expect(valuesIn("one", number)).toBeNull();
    expect(writtenValues([1, null, "x"])).toBe("1\n\nx");
  });
});

test("formulas say where they are wrong, and what they come to", () => {
  const { items } = draftWith([
    { id: "qty", type: "number", role, default: 3 },
    { id: "price", type: "number", role, max: 4 },
    { id: "name", type: "text_input", role },
  ]);
  const check = (text: string, decimals?: number) => checkFormula(text, decimals, items);
  const wrong: [string, number][] = [
    ["qty *", 5],
    ["qty % 2", 4],
    ["(qty", 4],
    ["qty  )", 5],
    ["qty + * 2", 6],
  ];
  for (const [text, at] of wrong)
    expect([text, check(text)]).toEqual([text, expect.objectContaining({ kind: "syntax", at })]);
  expect(check("qty + name + gone")).toEqual({ kind: "unknown", ids: ["name", "gone"] });
  expect(check("qty * price / 5", 1)).toEqual({
    kind: "result",
    value: 2.4,
    samples: [
      { id: "qty", value: 3 },
      { id: "price", value: 4 },
    ],
  });
});

test("the forms that texts may have are patterns of ours, and take what they should", () => {
  const good = {
    postcode5: "80012",
    postcode4: "8001",
    zip: "94105-1234",
    postcodeUk: "SW1A 1AA",
    iban: "DE89 3704 0044 0532 0130 00",
    vat: "DE123456789",
    phone: "+49 30 901820",
    email: "ada@example.com",
    digits: "007",
  };
  for (const name of presetNames) {
    const pattern = compilePattern(patternPresets[name]);
    expect([name, matches(pattern, good[name]), matches(pattern, "?!")]).toEqual([name, true, false]);
  }
  expect(matches(compilePattern(patternPresets.iban), "CH9300762011623852957")).toBe(true);
});

test("variables: what texts use, and how they are written", () => {
  const draft = draftWith([{ id: "t", type: "text", text: "{{a}} {{ b }} {{a}}" }], {
    variables: [Variable.parse({ name: "b" }), Variable.parse({ name: "c" })],
  });
  expect(variablesUsed(draft).undeclared).toEqual(["a"]);
  const declared = declareVariable(draft, "a");
  expect(declared.variables.map(({ name }) => name)).toEqual(["b", "c", "a"]);
  expect(declareVariable(declared, "a")).toBe(declared);
  expect(declareVariable(declared, "1 a")).toBe(declared);
  expect(sampleIn("number", "currency:EUR:2", "en")).toBe("€1,234.50");
  expect(sampleIn("date", "DD.MM.YYYY", "en")).toBe("09.03.2026");
});

test("two versions are compared by their items and the rest", () => {
  const before = draftWith([
    { id: "a", type: "text_input", role, label: "Name" },
    { id: "b", type: "checkbox", role },
    { id: "c", type: "text", text: "T" },
  ]);
  const after = draftWith(
    [
      { id: "a", type: "text_input", role, label: "Full name", x: 120, pattern: "x" },
      { id: "b", type: "number", role },
      { id: "c", type: "text", text: "T" },
    ],
    { variables: [Variable.parse({ name: "v" })] },
  );
  const { items, ...rest } = compareVersions(before, after);
  expect(rest).toEqual({ file: false, roles: false, variables: true, settings: false });
  const words = items.map((one) => [one.kind, one.item.id, one.item.type, "what" in one ? one.what : []]);
  expect(words).toEqual([
    ["added", "b", "number", []],
    ["removed", "b", "checkbox", []],
    ["changed", "a", "text_input", ["label", "place", "other"]],
  ]);
  expect(compareVersions(before, { ...before, items: structuredClone(before.items) }).items).toEqual([]);
});
