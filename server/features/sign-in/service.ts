export { issueFirstOwnerLink } from "./first-owner.ts";
export { issueToken } from "./tokens.ts";
