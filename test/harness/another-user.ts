import { chmodSync } from "node:fs";
import { anotherUser, hiddenFromOthers } from "../../scripts/public-place.ts";

/** For tests that work as another user. `npm test` makes the checkout readable for that user, or leaves out the files that import this. */

export { anotherUser };

// Processes that cannot be started otherwise end in waiting in vain.
const hidden = hiddenFromOthers();
if (hidden !== null) throw new Error(`${hidden}: use \`npm test\`, or a checkout and a TMPDIR that others may use`);

/**
 * Closes the file or folder to this process and those that it starts. Root may open everything, and is somebody else meanwhile.
 * @returns what opens it again
 */
export function forbid(place: string): () => void {
  const { getuid, seteuid } = process;
  if (!getuid || !seteuid) throw new Error("this machine has no users");
  const isRoot = getuid() === 0;
  chmodSync(place, isRoot ? 0o700 : 0);
  if (isRoot) seteuid(anotherUser);
  return () => {
    if (isRoot) seteuid(0);
    chmodSync(place, 0o700);
  };
}
