import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "../../scripts/package-modules.ts";

/** Installers for Windows with programs in the place of WinSW and Node that note how they were called, in the folder of program data. */

const run = promisify(execFile);

/**
 * In the place of WinSW 3, with its commands and no others; `stopwait` was one of WinSW 2. Whether it is registered and active are
 * files; a file `stuck` keeps it from stopping. The real one is fetched by whoever builds for Windows.
 */
const service = `Unicode true
Target amd64-unicode
Name "service"
OutFile "signet-service.exe"
SilentInstall silent
RequestExecutionLevel user
!include "FileFunc.nsh"
!include "LogicLib.nsh"
Section
  \${GetParameters} $0
  ReadEnvStr $2 ProgramData
  \${If} $0 == "status"
    System::Call 'kernel32::GetStdHandle(i -11) p .r1'
    \${If} \${FileExists} "$2\\active"
      FileWrite $1 "Active (running)$\\r$\\n"
    \${Else}
      FileWrite $1 "Inactive (stopped)$\\r$\\n"
    \${EndIf}
    Quit
  \${EndIf}
  FileOpen $1 "$2\\service-calls.txt" a
  FileSeek $1 0 END
  FileWrite $1 "$0$\\n"
  FileClose $1
  SetErrorLevel 1
  \${If} $0 == "install"
  \${AndIfNot} \${FileExists} "$2\\registered"
    FileOpen $1 "$2\\registered" w
    FileClose $1
    SetErrorLevel 0
  \${ElseIf} $0 == "refresh"
  \${AndIf} \${FileExists} "$2\\registered"
    SetErrorLevel 0
  \${ElseIf} $0 == "uninstall"
    Delete "$2\\registered"
    SetErrorLevel 0
  \${ElseIf} $0 == "start"
    FileOpen $1 "$2\\active" w
    FileClose $1
    SetErrorLevel 0
  \${ElseIf} $0 == "stop"
  \${AndIfNot} \${FileExists} "$2\\stuck"
    Delete "$2\\active"
    SetErrorLevel 0
  \${EndIf}
SectionEnd
`;

/** In the place of Node: a version that fails changes the database, leaves a log and ends, as one that migrates and then does not start. */
const node = `Unicode true
Target amd64-unicode
Name "node"
OutFile "release/bin/node.exe"
SilentInstall silent
RequestExecutionLevel user
!include "LogicLib.nsh"
Section
  ReadEnvStr $1 SIGNET_DATA_DIR
  ReadEnvStr $2 ProgramData
  \${If} \${FileExists} "$EXEDIR\\..\\fails"
    FileOpen $0 "$1\\signet.db" w
    FileWrite $0 "migrated"
    FileClose $0
    FileOpen $0 "$1\\signet.db-wal" w
    FileClose $0
    Delete "$2\\active"
    SetErrorLevel 1
  \${EndIf}
SectionEnd
`;

/** Packs a release of a few files, below the folder. @returns the installer */
export async function makeInstaller(
  folder: string,
  version: string,
  { fails = false, more = [] }: { fails?: boolean; more?: readonly string[] } = {},
): Promise<string> {
  const payload = path.join(folder, `payload-${version}`);
  await mkdir(path.join(payload, "release/bin"), { recursive: true });
  await writeFile(path.join(payload, "release/version"), version);
  if (fails) await writeFile(path.join(payload, "release/fails"), "");
  for (const [name, script] of Object.entries({ service, node })) {
    await writeFile(path.join(payload, `${name}.nsi`), script);
    await run("makensis", ["-V1", `${name}.nsi`], { cwd: payload });
  }
  const output = path.join(folder, `signet-server-${version}.exe`);
  const defines = [`-DVERSION=${version}`, `-DPAYLOAD=${payload}`, `-DOUTPUT=${output}`];
  const script = path.join(root, "installer/windows/signet-server.nsi");
  await run("makensis", ["-V2", "-WX", ...defines, ...more, script], { cwd: path.dirname(script) });
  return output;
}
