import { useState } from "react";

/** Whether this was ever true: what opens once stays, so that it can also be seen closing. */
export function useOnce(now: boolean): boolean {
  const [ever, setEver] = useState(now);
  if (now && !ever) setEver(true);
  return ever || now;
}
