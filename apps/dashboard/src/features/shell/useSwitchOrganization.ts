import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { switchOrganization } from "../../../../../server/features/organization/people-contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { enterSession } from "../../session.tsx";

/** Goes to work in another organization of the person. What is open is left first, so that unsaved work can object. */
export function useSwitchOrganization(): (organization: string) => Promise<void> {
  const queries = useQueryClient();
  const router = useRouter();
  return async (organization) => {
    await router.navigate({ to: "/" });
    if (router.state.location.pathname !== "/") return;
    enterSession(queries, await callEndpoint(switchOrganization, { body: { organization } }));
  };
}
