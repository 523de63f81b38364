import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { carryOver, fingerprint, newBatch, rowKey } from "../../apps/dashboard/src/features/bulk/batch.ts";
import { mapColumns, targetsOf, unmapped } from "../../apps/dashboard/src/features/bulk/columns.ts";
import { decode, readCsv, separatorOf, writeCsv } from "../../apps/dashboard/src/features/bulk/csv.ts";
import { readRows } from "../../apps/dashboard/src/features/bulk/rows.ts";
import { createRun, type Outcome, type RunState } from "../../apps/dashboard/src/features/bulk/run.ts";
import { dayIn, endOfDay } from "../../apps/dashboard/src/features/send/deadline.ts";
import { numberOf } from "../../apps/dashboard/src/features/send/texts.ts";
import { TemplateVersion } from "../../server/features/templates/contract.ts";

const now = Date.parse("2026-11-21T10:00:00.000Z");
const ts = "2026-11-21T09:10:00.000Z";
const hash = "0".repeat(64);

const version = TemplateVersion.parse({
  template: "tpl_0123456789ABCDEFGHIJKLMN",
  version: 3,
  status: "published",
  mode: "overlay",
  content: {
    mode: "overlay",
    file: "tfl_0123456789ABCDEFGHIJKLMN",
    items: [
      { id: "sign", role: "Tenant", type: "signature", page: 1, x: 0, y: 0, width: 100, height: 30 },
      {
        id: "floor",
        role: "Tenant",
        type: "number",
        label: "Floor",
        min: 0,
        max: 9,
        page: 1,
        x: 0,
        y: 40,
        width: 90,
        height: 20,
      },
      { id: "pets", role: "Tenant", type: "checkbox", page: 1, x: 0, y: 60, width: 9, height: 9 },
      {
        id: "paid",
        role: "Landlord",
        type: "dropdown",
        options: [{ value: "month", label: "every month" }, { value: "year" }],
        page: 1,
        x: 0,
        y: 80,
        width: 90,
        height: 20,
      },
    ],
  },
  roles: [
    { name: "Tenant", label: null, kind: "signer", order: 1, verification: "email_otp", countersigner: null },
    { name: "Landlord", label: "Vermieter", kind: "signer", order: 2, verification: "email_otp", countersigner: null },
    {
      name: "Office",
      label: null,
      kind: "countersigner",
      order: 3,
      verification: "none",
      countersigner: { name: "Office", email: "office@example.com" },
    },
  ],
  variables: [
    { name: "rent", type: "number", label: "Miete", required: true, default: null, format: null },
    { name: "start", type: "date", label: null, required: false, default: null, format: null },
    { name: "title", type: "text", label: null, required: false, default: null, format: null },
    {
      name: "extras",
      type: "list",
      columns: [
        { name: "what", type: "text" },
        { name: "price", type: "number" },
      ],
      label: null,
      required: false,
      default: null,
      format: null,
    },
  ],
  settings: {
    locale: "en",
    expiresInDays: null,
    reminders: null,
    allowDecline: true,
    allowReassign: false,
    signatureMethods: ["draw"],
    consentText: null,
  },
  pageCount: 1,
  warnings: [],
  contentHash: hash,
  createdAt: ts,
  updatedAt: ts,
  publishedAt: ts,
  publishedBy: null,
});
const targets = targetsOf(version);
const bytes = (text: string) => new TextEncoder().encode(text);
const cells = (text: string) => readCsv(text).rows.map((row) => row.cells);

function rowsOf(text: string, decimal: "." | "," = ".") {
  const table = readCsv(text);
  const mapping = mapColumns(table.headers, targets);
  return readRows(table, { version, targets, mapping, decimal, timeZone: "Europe/Zurich", now });
}

describe("reading a file", () => {
  test("in UTF-8 with and without its mark, UTF-16 and Windows-1252", () => {
    expect(decode(bytes("\uFEFFZoë"))).toBe("Zoë");
    expect(decode(bytes("Zoë"))).toBe("Zoë");
    expect(decode(Uint8Array.from([0xff, 0xfe, 0x5a, 0, 0xeb, 0]))).toBe("Zë");
    expect(decode(Uint8Array.from([0x5a, 0xeb, 0x80]))).toBe("Zë€");
  });

  test("with commas, semicolons or tabs, whatever the quoted headers hold", () => {
    expect(separatorOf("a,b\n1;2;3;4")).toBe(",");
    expect(separatorOf('"a,x";b;c\n')).toBe(";");
    expect(separatorOf("a\tb")).toBe("\t");
    expect(separatorOf("alone")).toBe(",");
    expect(cells("sep=;\r\na;b\r\n1,5;2")).toEqual([["1,5", "2"]]);
  });

  test("with quotes, line breaks within them, and rows that are too short or too long", () => {
    expect(cells('a,b\n"1\n2","say ""hi"""\n')).toEqual([["1\n2", 'say "hi"']]);
    const { rows } = readCsv("a,b\n1\n\n1,2,3\n");
    expect(rows).toEqual([
      { number: 2, cells: ["1", ""], extra: 0 },
      { number: 3, cells: ["", ""], extra: 0 },
      { number: 4, cells: ["1", "2"], extra: 1 },
    ]);
  });
});

describe("writing a file", () => {
  test("every table that is written reads back the same", () => {
    const nasty = fc.constantFrom(..."'\"=+-@,;\t\r\n \uFEFFa1é＝".split(""));
    const cell = fc.oneof(
      fc.string(),
      fc.string({ unit: "grapheme" }),
      fc.array(nasty).map((parts) => parts.join("")),
    );
    const tables = fc.integer({ min: 1, max: 6 }).chain((width) => {
      const row = fc.array(cell, { minLength: width, maxLength: width });
      return fc.tuple(row, fc.array(row, { maxLength: 8 }));
    });
    fc.assert(
      fc.property(tables, ([headers, rows]) => {
        const table = readCsv(decode(bytes(writeCsv(headers, rows))));
        expect(table.headers).toEqual(headers);
        expect(table.rows.map((row) => row.cells)).toEqual(rows);
      }),
      { numRuns: 500 },
    );
  });

  test("no cell is run by a spreadsheet as a formula, and numbers stay numbers", () => {
    const text = writeCsv(["x"], [["=1+1"], ["+41 44 1"], ["@SUM(A1)"], ["-cmd"], ["\t=1"], ["-12.5"]]);
    expect(text.split("\r\n").slice(1, 7)).toEqual(["'=1+1", "'+41 44 1", "'@SUM(A1)", "'-cmd", '"\'\t=1"', "-12.5"]);
  });
});

describe("columns", () => {
  test("the downloaded headers map to everything, whatever the order", () => {
    const headers = targets.map(({ header }) => header);
    expect(new Set(headers).size).toBe(headers.length);
    expect(mapColumns(headers, targets)).toEqual(targets.map(({ id }) => id));
    expect(mapColumns(headers.toReversed(), targets)).toEqual(targets.map(({ id }) => id).toReversed());
    expect(headers).toContain("{{title}}");
  });

  test("other ways to write them are understood, each target once", () => {
    const headers = [
      "tenant E-MAIL",
      "Tenant_Name",
      "Vermieter Name",
      "landlord email",
      "MIETE",
      "Floor",
      "Titel",
      "Notes",
      "rent",
    ];
    expect(mapColumns(headers, targets)).toEqual([
      "person/email/Tenant",
      "person/name/Tenant",
      "person/name/Landlord",
      "person/email/Landlord",
      null,
      "value/floor/Tenant",
      "envelope/title",
      null,
      "variable/rent",
    ]);
    expect(unmapped(targets, mapColumns(["Tenant: name"], targets)).map(({ id }) => id)).toEqual([
      "person/email/Tenant",
      "person/name/Landlord",
      "person/email/Landlord",
      "variable/rent",
    ]);
  });
});

describe("rows", () => {
  const head = "Tenant: name,Tenant: email,Landlord: name,Landlord: email,rent";

  test("become envelopes; an empty cell is not given", () => {
    const [row] = rowsOf(
      `${head},start,extras,Tenant / floor,Tenant / pets,Landlord / paid,title,{{title}},locale,expiresAt,externalId\n` +
        'Ada,ada@example.com,Ben,ben@example.com,"1,850.50",1.12.2026,"[{""what"":""cellar"",""price"":20}]",2,yes,every month,T,Miss,de,2026-12-24,c-1\n',
    );
    expect(row?.findings).toEqual([]);
    expect(row?.request).toEqual({
      template: version.template,
      templateVersion: 3,
      recipients: [
        { role: "Tenant", name: "Ada", email: "ada@example.com" },
        { role: "Landlord", name: "Ben", email: "ben@example.com" },
      ],
      variables: { rent: 1850.5, start: "2026-12-01", extras: [{ what: "cellar", price: 20 }], title: "Miss" },
      values: { Tenant: { floor: 2, pets: true }, Landlord: { paid: "month" } },
      title: "T",
      locale: "de",
      expiresAt: "2026-12-24T22:59:00.000Z",
      externalId: "c-1",
      dedupeOn: "external_id",
    });
    const [short] = rowsOf(`${head},start\nAda,ada@example.com,Ben,ben@example.com,1,\n`);
    expect(short?.request.variables).toEqual({ rent: 1 });
    expect(short?.request).not.toHaveProperty("dedupeOn");
  });

  test("say what is wrong with which column; empty ones are skipped, numbers kept", () => {
    const rows = rowsOf(
      `${head},Tenant / floor,expiresAt,externalId\n` +
        "Ada,ada@,Ben,ben@example.com,cheap,12,,x\n" +
        ",,,,,,,\n" +
        ",ada@example.com,Ben,ben@example.com,,1,2020-01-01,x,too much\n",
    );
    expect(rows.map(({ number }) => number)).toEqual([2, 4]);
    expect(rows[0]?.findings.map(({ column, code }) => [column, code])).toEqual([
      ["Tenant: email", "format"],
      ["rent", "type"],
      ["Tenant / floor", "max"],
    ]);
    expect(rows[1]?.findings.map(({ column, code }) => [column, code])).toEqual([
      ["Tenant: name", "required"],
      ["expiresAt", "min"],
      ["rent", "required"],
      [null, "unknown"],
      ["externalId", "duplicate"],
    ]);
  });

  test("numbers are read by the sign that was chosen, never guessed", () => {
    expect(numberOf("1'850.50", ".")).toBe(1850.5);
    expect(numberOf("1.850,50", ",")).toBe(1850.5);
    expect(numberOf("1.850", ",")).toBe(1850);
    expect(numberOf("1.850", ".")).toBe(1.85);
    expect(numberOf("1,85", ".")).toBe("1,85");
    expect(numberOf("", ".")).toBe("");
  });

  test("a day ends when it ends in the organization's zone, also on the days when clocks change", () => {
    expect(endOfDay("2026-07-01", "Europe/Zurich")).toBe("2026-07-01T21:59:00.000Z");
    expect(endOfDay("2026-03-29", "Europe/Zurich")).toBe("2026-03-29T21:59:00.000Z");
    expect(endOfDay("2026-10-25", "Europe/Zurich")).toBe("2026-10-25T22:59:00.000Z");
    expect(endOfDay("2026-11-21", "Pacific/Auckland")).toBe("2026-11-21T10:59:00.000Z");
    expect(endOfDay("soon", "UTC")).toBe("soon");
    expect(dayIn("Pacific/Auckland", now + 2 * 3_600_000)).toBe("2026-11-22");
  });
});

describe("the key of a row", () => {
  test("is the same for the same try and another for anything else", async () => {
    const key = await rowKey("b", 2, "{}", 0);
    expect(key).toMatch(/^bulk-[0-9a-f]{64}$/);
    expect(await rowKey("b", 2, "{}", 0)).toBe(key);
    const others = await Promise.all([
      rowKey("c", 2, "{}", 0),
      rowKey("b", 3, "{}", 0),
      rowKey("b", 2, "[]", 0),
      rowKey("b", 2, "{}", 1),
    ]);
    expect(new Set([key, ...others]).size).toBe(5);
  });
});

describe("a corrected file", () => {
  test("finds the rows that were sent: in their place, elsewhere, and as often as they were sent", async () => {
    const batch = newBatch({ name: "a.csv", headers: "h", templateVersion: 1, mapping: [], decimal: "." }, now);
    for (const [row, content] of [
      [2, "ada"],
      [3, "ben"],
      [5, "ben"],
      [6, "eve"],
    ] as const) {
      batch.sent[String(row)] = `env_${row}`;
      batch.contents[String(row)] = await fingerprint(batch.id, content);
    }
    const contents = ["ada", "new", "ben", "ben", "ben", "eve changed"];
    const carried = await carryOver(
      batch,
      contents.map((content, index) => ({ number: index + 2, content })),
    );
    expect(carried.sent).toEqual({ 2: "env_2", 5: "env_5", 4: "env_3" });
    expect(Object.keys(carried.contents)).toEqual(Object.keys(carried.sent));
    expect(JSON.stringify(carried)).not.toContain("ben");
  });
});

describe("a run", () => {
  const sent = (row: number): Outcome => ({ kind: "sent", envelope: `env_${row}`, existed: false });
  const range = (count: number) => Array.from({ length: count }, (_, index) => index + 2);
  const until = (run: ReturnType<typeof createRun>, is: (state: RunState) => boolean) =>
    new Promise<RunState>((resolve) => {
      const look = () => is(run.state()) && resolve(run.state());
      run.subscribe(look);
      look();
    });

  test("sends every row once, never more than four at a time, and skips those that were sent", async () => {
    let busy = 0;
    let most = 0;
    const asked: number[] = [];
    const run = createRun({
      rows: range(30),
      sent: { 2: "env_a", 9: "env_b" },
      wait: async () => {},
      send: async (row) => {
        asked.push(row);
        busy += 1;
        most = Math.max(most, busy);
        await new Promise((resolve) => setImmediate(resolve));
        busy -= 1;
        return sent(row);
      },
    });
    run.start();
    const { counts } = await until(run, ({ phase }) => phase === "done");
    expect(counts).toEqual({ total: 30, sent: 30, failed: 0, waiting: 0 });
    expect(asked).toEqual(range(30).filter((row) => row !== 2 && row !== 9));
    expect(most).toBe(4);
  });

  test("waits as long as it is told to, for all rows, and through a lost network", async () => {
    const waits: [number, boolean][] = [];
    const tries = new Map<number, number>();
    const run = createRun({
      rows: range(6),
      sent: {},
      wait: async (ms, offline) => void waits.push([ms, offline]),
      send: async (row) => {
        const tried = (tries.get(row) ?? 0) + 1;
        tries.set(row, tried);
        if (row === 2 && tried === 1)
          return { kind: "later", afterMs: 7000, message: "slow", requestId: "r", offline: false };
        if (row === 7 && tried <= 10)
          return { kind: "later", afterMs: null, message: "lost", requestId: null, offline: true };
        return sent(row);
      },
    });
    run.start();
    const { counts } = await until(run, ({ phase }) => phase === "done");
    expect(counts.sent).toBe(6);
    expect(waits[0]).toEqual([7000, false]);
    expect(waits.slice(1).every(([, offline]) => offline)).toBe(true);
    expect(waits).toHaveLength(11);
  });

  test("stops for what somebody must do, fails a row for good, and retries only failed rows", async () => {
    const asked: number[] = [];
    let broken = true;
    let paid = false;
    const run = createRun({
      rows: range(5),
      sent: {},
      atOnce: 1,
      wait: async () => {},
      send: async (row) => {
        asked.push(row);
        if (row === 3 && broken) return { kind: "refused", message: "no", requestId: "req" };
        if (row === 4 && !paid) return { kind: "blocked", message: "pay", requestId: null };
        return sent(row);
      },
    });
    run.start();
    const blocked = await until(run, ({ phase }) => phase === "paused");
    expect(blocked.hindrance).toMatchObject({ kind: "blocked", message: "pay" });
    expect(blocked.counts).toEqual({ total: 5, sent: 1, failed: 1, waiting: 3 });
    paid = true;
    run.start();
    const done = await until(run, ({ phase }) => phase === "done");
    expect(done.rows.get(3)).toEqual({ kind: "failed", message: "no", requestId: "req" });
    broken = false;
    asked.length = 0;
    run.retryFailed();
    expect((await until(run, ({ phase }) => phase === "done")).counts.sent).toBe(5);
    expect(asked).toEqual([3]);
  });

  test("gives a row up when the service stays out of order, and the others go on", async () => {
    const run = createRun({
      rows: range(3),
      sent: {},
      wait: async () => {},
      send: async (row) =>
        row === 2 ? { kind: "later", afterMs: null, message: "500", requestId: "req", offline: false } : sent(row),
    });
    run.start();
    const { counts, rows } = await until(run, ({ phase }) => phase === "done");
    expect(counts).toMatchObject({ sent: 2, failed: 1 });
    expect(rows.get(2)).toEqual({ kind: "failed", message: "500", requestId: "req" });
  });
});
