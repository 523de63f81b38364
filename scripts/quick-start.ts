/** What the README's quick start promises: `npm run test:fresh` does it on fresh machines. */

/** The commands in its block, without their remarks. @throws Error when it does not start and test any more */
export function quickStartCommands(readme: string): string[] {
  const block = /^## Quick start\n[\s\S]*?^```\n([\s\S]*?)^```/m.exec(readme)?.[1] ?? "";
  const commands = block
    .split("\n")
    .map((line) => line.replace(/ +#.*/, ""))
    .filter((line) => line !== "");
  if (!commands.some(starts) || !commands.some(tests)) throw new Error("the README's quick start has no two commands");
  return commands;
}

export const starts = (line: string): boolean => line.endsWith("npm start");
export const tests = (line: string): boolean => line.endsWith("npm test");

/** Debian packages that it asks for; Node and npm come from elsewhere. @throws Error when it does not say so any more */
export function quickStartPackages(readme: string): string[] {
  const asked = /^On Linux with Node [\d.]+ or newer, (.+?) \(/m.exec(readme)?.[1];
  if (asked === undefined) throw new Error("the README's quick start does not say what it needs");
  return asked.split(/, | and /).filter((name) => name !== "npm");
}
