import { version } from "../version.ts";
import { type Command, exitCodesOf, print } from "./command.ts";
import { entryOf } from "./list.ts";

/** @param commands asked for when it runs: it is one of them itself */
export function manCommand(commands: () => Promise<readonly Command[]>): Command {
  return {
    ...entryOf("man"),
    usage: ["signet man > /usr/local/share/man/man1/signet.1", "signet man | man -l -"],
    async run(context) {
      const page = manualPage(await commands());
      print(context, { page }, page.trimEnd());
      return 0;
    },
  };
}

/** The manual page in the macros of man(7). */
function manualPage(commands: readonly Command[]): string {
  const lines = [
    `.TH SIGNET 1 "" "Signet ${roff(version)}" "Signet"`,
    ".SH NAME",
    `signet ${dash} the self\\-hosted electronic\\-signature appliance`,
    ".SH SYNOPSIS",
    ".B signet",
    ".I command",
    ".RI [ arguments ]",
    ".RB [ \\-\\-json ]",
    ".SH DESCRIPTION",
    text(
      "Runs and looks after a Signet appliance. Without a command it serves. Commands that act on the running appliance reach it over its admin socket; where none runs, they do the same on the data folder. What changes something stands in the operators' audit.",
    ),
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ".SH OPTIONS",
    ".TP",
    ".B \\-\\-json",
    text('Prints one JSON value instead of text; of a stream, one a line. A failure is an object with "error".'),
    ".TP",
    ".BR \\-\\-help ,\\  \\-h",
    text("Prints how a command is called."),
    ".SH EXIT STATUS",
    ...Object.entries(exitCodesOf(undefined)).flatMap(([code, meaning]) => [".TP", `.B ${code}`, text(`${meaning}.`)]),
    text("What a command says besides stands with it."),
    ".SH ENVIRONMENT",
    text("Settings are variables that begin with SIGNET_; they overrule signet.json in the data folder."),
    ".TP",
    ".B SIGNET_DATA_DIR",
    text("The data folder; ./data when it is not set."),
    ".TP",
    ".B SIGNET_ADMIN_SOCKET",
    text("The admin socket; run/admin.sock in the data folder when it is not set."),
    ".SH FILES",
    ".TP",
    ".I signet.json",
    text("Settings, in the data folder."),
    ".TP",
    ".I master.key",
    text("What everything else in the data folder is encrypted with. Without it nothing can be read."),
    "",
  ];
  return lines.join("\n");
}

function commandLines(command: Command): string[] {
  const own = Object.entries(command.exitCodes ?? {}).map(([code, meaning]) => `Exit status ${code}: ${meaning}.`);
  return [
    `.SS ${roff(command.name)}`,
    text(sentence(command.summary)),
    ".PP",
    ".nf",
    ...command.usage.map(text),
    ".fi",
    ...own.flatMap((line) => [".PP", text(line)]),
  ];
}

const dash = "\\-";
const sentence = (summary: string): string => `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`;
/** Characters beyond ASCII by their number, which groff and mandoc both know. */
const roff = (plain: string): string =>
  plain
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/[^\x20-\x7e]/gu, (char) => `\\[u${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`);
/** A line of text: one that begins with a dot or an apostrophe would be a request. */
const text = (plain: string): string => roff(plain).replace(/^(?=[.'])/, "\\&");
