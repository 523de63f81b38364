import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { ensureSystemPackages } from "../../scripts/system-packages.ts";
import { makeAuthority } from "../harness/authority.ts";
import { stampFixtures } from "../workers/stamp-fixtures.ts";
import { judgeStamp, mupdf, poppler, type Renderer, run } from "../workers/stamp-judging.ts";

/** Pages that leave something open are stamped and sealed, and drawn by poppler, MuPDF, PDFium and Ghostscript before and after. */

const version = "5.15.2";
const root = path.resolve(import.meta.dirname, "../../out/judges");
const environment = path.join(root, `pypdfium2-${version}`);
const pictures = path.join(root, "stamps");

const ghostscript: Renderer = {
  name: "ghostscript",
  draw: (pdf, out) => {
    const quality = ["-r72", "-dTextAlphaBits=4", "-dGraphicsAlphaBits=4"];
    run("gs", "-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-dUseCropBox", "-sDEVICE=pgmraw", ...quality, "-o", out, pdf);
  },
};
/** `python` has the package `pypdfium2`. */
const pdfium = (python: string): Renderer => ({
  name: "PDFium",
  draw: (pdf, out) => run(python, "-c", PDFIUM, pdf, out),
});
const PDFIUM = `
import sys, pypdfium2
document = pypdfium2.PdfDocument(sys.argv[1])
document.init_forms()
picture = document[0].render(scale=1, grayscale=True)
with open(sys.argv[2], "wb") as out:
    out.write(b"P5 %d %d 255\\n" % (picture.width, picture.height))
    for row in range(picture.height):
        out.write(bytes(picture.buffer)[row * picture.stride : row * picture.stride + picture.width])
`;

/**
 * All of `stampFixtures`; says what is wrong with each that does not pass. Files and renderings of these are kept in
 * `out/judges/stamps`.
 * @returns whether every stamp is seen by all four, or was refused or warned of with a reason
 */
export async function judgeStamps(): Promise<boolean> {
  install();
  await rm(pictures, { recursive: true, force: true });
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const authority = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
  const renderers = [poppler, mupdf, pdfium(path.join(environment, "bin/python")), ghostscript];
  const fixtures = stampFixtures();
  let failed = 0;
  try {
    for (const fixture of fixtures) {
      const { problems, files } = await judgeStamp(fixture, renderers, authority, at);
      if (problems.length === 0) continue;
      failed++;
      console.log(`${fixture.name}: ${problems.join("; ")}`);
      await keep(fixture.name, files);
    }
  } finally {
    authority.close();
  }
  const names = renderers.map(({ name }) => name).join(", ");
  console.log(`${fixtures.length - failed} of ${fixtures.length} pages as they should be, drawn by ${names}`);
  return failed === 0;
}

function install(): void {
  ensureSystemPackages();
  ensureSystemPackages({ "/usr/bin/gs": "ghostscript", "/usr/bin/python3": "python3-venv" });
  const done = path.join(environment, "installed");
  if (existsSync(done)) return;
  execFileSync("python3", ["-m", "venv", environment], { stdio: ["ignore", "ignore", "inherit"] });
  const pip = path.join(environment, "bin/pip");
  execFileSync(pip, ["install", "--quiet", `pypdfium2==${version}`], { stdio: ["ignore", "ignore", "inherit"] });
  writeFileSync(done, "");
}

async function keep(name: string, files: Record<string, Uint8Array>): Promise<void> {
  const folder = path.join(pictures, name.replace(/\W+/g, "-"));
  await mkdir(folder, { recursive: true });
  for (const [file, bytes] of Object.entries(files)) await writeFile(path.join(folder, file), bytes);
}
