import { expect, test } from "vitest";
import { openPdf } from "../../../workers/pdf/reader.ts";
import { findSignatures } from "../../../workers/seal/fields.ts";

/** Object 4 is the one field of the form. */
function formOf(fields: readonly string[]): Buffer {
  const bodies = ["<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>"];
  bodies.push("<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>", ...fields);
  let text = "%PDF-1.7\n";
  const rows = bodies.map((body, index) => {
    const row = `${String(text.length).padStart(10, "0")} 00000 n \n`;
    text += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return row;
  });
  const table = `xref\n0 ${rows.length + 1}\n0000000000 65535 f \n${rows.join("")}`;
  const end = `trailer\n<</Size ${rows.length + 1}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + end, "latin1");
}
const signature = "<</FT/Sig/T(x)/V<</ByteRange[0 1 2 3]>>>>";
const kids = (count: number) => Array.from({ length: count }, (_, index) => `${5 + index} 0 R`).join(" ");

test("a signature is named by all fields that it stands in, and a name without end is refused instead of built", () => {
  const named = formOf(["<</T(a)/Kids[5 0 R]>>", "<</Kids[6 0 R]>>", signature]);
  expect(findSignatures(openPdf(named)).map(({ name }) => name)).toEqual(["a.x"]);
  // Each of these would be named by 200 kB.
  const long = formOf([`<</T(${"a".repeat(200_000)})/Kids[${kids(100)}]>>`, ...Array<string>(100).fill(signature)]);
  expect(() => findSignatures(openPdf(long))).toThrow("the name of a field is too long");
});
