import { createContext, use } from "react";

/** How roles are called on the page, where that is not their own name: by the person who has it, in a document that is sent once. */
const RoleNames = createContext<ReadonlyMap<string, string>>(new Map());

export const RoleNamesProvider = RoleNames.Provider;

export function useRoleName(): (role: string) => string {
  const names = use(RoleNames);
  return (role) => names.get(role) ?? role;
}
