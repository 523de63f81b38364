import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { NodeCompiler } from "@myriaddreamin/typst-ts-node-compiler";
import { samplePdf, type Variant, variant } from "../harness/pdfs.ts";

/** Files as people bring them: written by a dozen programs, each in several ways, none of them signed. */

const lecture = path.resolve(import.meta.dirname, "../fixtures/pdf/lecture.pdf");
const paragraphs = (count: number) =>
  Array.from({ length: count }, (_, at) => `<p>${at + 1}. The tenant pays the rent in advance. Äpfel, žluť, §, €.</p>`);
const page = (style: string, count: number) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Lease</title><style>${style}</style><h1>Lease</h1>${paragraphs(count).join("")}</html>`;

/** Writes them. @returns their paths, named after program and way */
export async function writeMixedFiles(folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const made: string[] = [];
  const at = (name: string) => path.join(folder, name);
  const take = (name: string, write: (file: string) => void): string => {
    const file = at(`${name}.pdf`);
    write(file);
    made.push(file);
    return file;
  };
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { stdio: ["ignore", "pipe", "ignore"], cwd: folder, timeout: 120_000 });

  for (const kind of ["table", "stream", "linearized", "linearized-stream", "hybrid"] satisfies Variant[]) {
    const bytes = await variant(kind, { pages: 2 });
    take(`pdf-lib-${kind}`, (file) => writeFileSync(file, bytes));
  }
  const rotated = await samplePdf({ pages: 3 });
  const sample = take("pdf-lib-three-pages", (file) => writeFileSync(file, rotated));

  const styles = {
    plain: "",
    columns: "body{columns:2}",
    landscape: "@page{size:A4 landscape}",
    letter: "@page{size:letter}",
  };
  for (const [name, style] of Object.entries(styles)) {
    writeFileSync(at(`${name}.html`), page(style, 40));
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"];
    take(`chromium-${name}`, (file) =>
      run(
        "chromium-headless-shell",
        ...flags,
        `--user-data-dir=${at("profile")}`,
        `--print-to-pdf=${file}`,
        `file://${at(`${name}.html`)}`,
      ),
    );
  }

  for (const [filter, source, name] of [
    ["writer_pdf_Export", "plain.html", "writer"],
    ['writer_pdf_Export:{"SelectPdfVersion":{"type":"long","value":"15"}}', "columns.html", "writer-1.5"],
    ['writer_pdf_Export:{"SelectPdfVersion":{"type":"long","value":"2"}}', "letter.html", "writer-a-2b"],
    ['writer_pdf_Export:{"UseTaggedPDF":{"type":"boolean","value":"true"}}', "landscape.html", "writer-tagged"],
  ] as const) {
    const profile = `-env:UserInstallation=file://${at("office")}`;
    take(`libreoffice-${name}`, (file) => {
      run("soffice", profile, "--headless", "--convert-to", `pdf:${filter}`, "--outdir", at("converted"), at(source));
      writeFileSync(file, readFileSync(path.join(folder, "converted", source.replace(".html", ".pdf"))));
    });
  }

  const typst = NodeCompiler.create({ workspace: folder });
  for (const standard of ["1.7", "2.0", "a-2b", "a-2u", "a-3b", "ua-1"] as const) {
    const mainFileContent = `#set document(title: "Lease", date: datetime(year: 2026, month: 1, day: 1))\n= Lease\n#lorem(400)`;
    const pdf = typst.pdf({ mainFileContent }, { pdfStandard: standard });
    take(`typst-${standard}`, (file) => writeFileSync(file, pdf));
  }

  writeFileSync(at("text.ms"), "Lease\n.sp\nThe tenant pays the rent in advance.\n");
  writeFileSync(at("text.ps"), run("groff", "-Tps", at("text.ms")));
  const versions = ["1.3", "1.4", "1.5", "1.7"];
  for (const version of versions)
    take(`ghostscript-${version}`, (file) =>
      run(
        "gs",
        "-q",
        "-dBATCH",
        "-dNOPAUSE",
        "-sDEVICE=pdfwrite",
        `-dCompatibilityLevel=${version}`,
        `-sOutputFile=${file}`,
        at("text.ps"),
      ),
    );

  // The same pages, written anew by other programs.
  const chromium = at("chromium-plain.pdf");
  const office = at("libreoffice-writer.pdf");
  const typeset = at("typst-1.7.pdf");
  const origins = { lecture, chromium, office, typeset, sample };
  for (const [name, source] of Object.entries(origins)) {
    take(`qpdf-linearized-${name}`, (file) => run("qpdf", "--linearize", source, file));
    take(`qpdf-objects-${name}`, (file) => run("qpdf", "--object-streams=generate", source, file));
    take(`qpdf-plain-${name}`, (file) => run("qpdf", "--qdf", "--object-streams=disable", source, file));
    take(`mupdf-clean-${name}`, (file) => run("mutool", "clean", "-gggg", "-z", source, file));
    take(`mupdf-expanded-${name}`, (file) => run("mutool", "clean", "-d", source, file));
    take(`ghostscript-${name}`, (file) =>
      run("gs", "-q", "-dBATCH", "-dNOPAUSE", "-sDEVICE=pdfwrite", `-sOutputFile=${file}`, source),
    );
    take(`cairo-${name}`, (file) => run("pdftocairo", "-pdf", source, file));
    take(`poppler-united-${name}`, (file) => run("pdfunite", source, sample, file));
  }
  take("lecture", (file) => writeFileSync(file, readFileSync(lecture)));
  return made;
}
