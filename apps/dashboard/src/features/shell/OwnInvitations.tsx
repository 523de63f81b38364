import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import {
  acceptOwnInvitation,
  listOwnInvitations,
  type OwnInvitation,
} from "../../../../../server/features/organization/people-contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useWholeList } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { enterSession } from "../../session.tsx";

const t = translator("shell");

/** Open invitations of the person's address; none while they are not known. */
export function useOwnInvitations(): readonly OwnInvitation[] {
  return useWholeList(listOwnInvitations, (page) => callEndpoint(listOwnInvitations, page)).data ?? [];
}

/** Joins an organization and works there. What is open is left first, so that unsaved work can object. */
export function useJoin(): (invitation: OwnInvitation) => Promise<void> {
  const queries = useQueryClient();
  const router = useRouter();
  return async ({ id }) => {
    await router.navigate({ to: "/" });
    if (router.state.location.pathname !== "/") return;
    enterSession(queries, await callEndpoint(acceptOwnInvitation, { params: { id } }));
  };
}

/** For who is in no organization yet: where they could be at a press. Nobody is put anywhere unasked. */
export function OwnInvitations() {
  const invitations = useOwnInvitations();
  const join = useJoin();
  const [failure, setFailure] = useState<unknown>(null);
  if (invitations.length === 0) return null;
  return (
    <section className="card">
      <h2>{t("invited.title")}</h2>
      {failure !== null && <Failure error={failure} />}
      {invitations.map((invitation) => {
        const { id, organization, invitedBy, role } = invitation;
        return (
          <div key={id} className="own-invitation">
            <p>{t("invited.text", { organization, invitedBy, role: t(`role.${role}`) })}</p>
            <Button onClick={() => void join(invitation).catch(setFailure)}>
              {t("invited.joinNamed", { organization })}
            </Button>
          </div>
        );
      })}
    </section>
  );
}
