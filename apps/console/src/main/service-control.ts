import { execFile } from "node:child_process";
import type { NativeOutput } from "../shared/native.ts";

/** Starting and stopping the service: the only thing for which the console asks for more rights. Every word is fixed here. */

export type Verb = "start" | "stop" | "restart";
type Outcome = NativeOutput<"service.control">;
type Command = { program: string; arguments: readonly string[]; declined: (code: unknown, said: string) => boolean };

const windowsVerbs = { start: "Start-Service", stop: "Stop-Service", restart: "Restart-Service" } as const;
const daemon = "app.signet.server";
const launchd = {
  start: `/bin/launchctl bootstrap system /Library/LaunchDaemons/${daemon}.plist`,
  stop: `/bin/launchctl bootout system/${daemon}`,
  restart: `/bin/launchctl kickstart -k system/${daemon}`,
} as const;

/** What is run for a verb; null where there is no service to control. */
export function serviceCommand(platform: NodeJS.Platform, verb: Verb): Command | null {
  if (platform === "linux")
    return {
      program: "/usr/bin/pkexec",
      arguments: ["/usr/bin/systemctl", verb, "signet.service"],
      // pkexec(1): 126 the dialog was dismissed, 127 not authorized.
      declined: (code) => code === 126 || code === 127,
    };
  if (platform === "win32") {
    const elevated = `Start-Process -Verb RunAs -Wait -WindowStyle Hidden powershell.exe '-NoProfile','-Command','${windowsVerbs[verb]} signet'`;
    return {
      program: `${process.env.SystemRoot ?? "C:\\Windows"}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`,
      arguments: ["-NoProfile", "-NonInteractive", "-Command", elevated],
      // ERROR_CANCELLED, in the text of every language.
      declined: (_code, said) => said.includes("1223"),
    };
  }
  if (platform === "darwin")
    return {
      program: "/usr/bin/osascript",
      arguments: ["-e", `do shell script "${launchd[verb]}" with administrator privileges`],
      // userCanceledErr
      declined: (_code, said) => said.includes("-128"),
    };
  return null;
}

/**
 * Runs a verb and waits for its end.
 * @param program instead of the platform's own way to more rights, for tests
 */
export function controlService(platform: NodeJS.Platform, verb: Verb, program?: string): Promise<Outcome> {
  const command = serviceCommand(platform, verb);
  if (!command) return Promise.resolve({ outcome: "unavailable", detail: platform });
  return new Promise((resolve) => {
    execFile(program ?? command.program, [...command.arguments], { timeout: 300_000 }, (error, stdout, stderr) => {
      const detail = `${stdout}${stderr}`.trim().slice(0, 2000);
      if (!error) return resolve({ outcome: "done", detail });
      if (error.code === "ENOENT") return resolve({ outcome: "unavailable", detail: error.message });
      resolve({
        outcome: command.declined(error.code, detail) ? "declined" : "failed",
        detail: detail || error.message,
      });
    });
  });
}
