import { ReturnTo } from "../../../../../server/features/sign-in/contract.ts";

/** Where to go on to: a path of the dashboard. Anything else, above all another site, becomes the start page. */
export function localPath(path: string | null | undefined): string {
  const parsed = ReturnTo.safeParse(path);
  // Back to the sign-in would go round in circles.
  return parsed.success && !parsed.data.startsWith("/sign-in") ? parsed.data : "/";
}
