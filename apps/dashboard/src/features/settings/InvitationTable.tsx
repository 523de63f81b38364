import { Button } from "@mantine/core";
import {
  deleteInvitation,
  type Invitation,
  listInvitations,
  resendInvitation,
} from "../../../../../server/features/organization/people-contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { useFresh } from "../../../../shared/ui/kit/useFresh.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useSession } from "../../session.tsx";
import "../../../../shared/ui/kit/table.css";

/** Invitations that wait for their people. */
export function InvitationTable({ invitations }: { invitations: readonly Invitation[] }) {
  const t = translator("settings");
  const { organization } = useSession();
  const confirm = useConfirm();
  const fresh = useFresh();
  const resend = useAct(resendInvitation, { changes: [listInvitations] });
  const revoke = useAct(deleteInvitation, { changes: [listInvitations] });
  const error = resend.error ?? revoke.error;

  const mailAgain = ({ id, email }: Invitation) => {
    revoke.reset();
    // A refusal is shown above the table.
    fresh(() => resend.mutateAsync({ params: { id } })).then(
      () => notify({ message: t("members.resent", { email }) }),
      () => {},
    );
  };
  const askRevoke = async ({ id, email }: Invitation) => {
    const agreed = await confirm({
      title: t("members.revokeTitle"),
      text: t("members.revokeText", { email }),
      confirm: t("members.revoke"),
      danger: true,
    });
    if (!agreed) return;
    resend.reset();
    revoke.mutate({ params: { id } }, { onSuccess: () => notify({ message: t("members.revoked", { email }) }) });
  };

  return (
    <>
      {error && <Failure error={error} />}
      <table className="list-table people-table">
        <caption className="spoken">{t("members.invitations")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("members.address")}</th>
            <th scope="col">{t("members.role")}</th>
            <th scope="col">{t("members.invitedBy")}</th>
            <th scope="col">{t("members.expires")}</th>
            <th scope="col">
              <span className="spoken">{t("members.actions")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {invitations.map((invitation) => {
            const { id, email, role, invitedBy, expiresAt, expired } = invitation;
            const mayAct = organization?.role === "owner" || role !== "owner";
            return (
              <tr key={id}>
                <th scope="row">{email}</th>
                <td data-label={t("members.role")}>{t(`roles.${role}`)}</td>
                <td data-label={t("members.invitedBy")}>{invitedBy.name ?? invitedBy.email}</td>
                <td data-label={t("members.expires")}>
                  {expired ? <StatusBadge tone="bad">{t("members.expired")}</StatusBadge> : <When at={expiresAt} />}
                </td>
                <td>
                  {mayAct && (
                    <span className="people-acts">
                      <Button
                        size="compact-sm"
                        variant="default"
                        loading={resend.isPending && resend.variables.params.id === id}
                        aria-label={t("members.resendNamed", { email })}
                        onClick={() => mailAgain(invitation)}
                      >
                        {t("members.resend")}
                      </Button>
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={t("members.revokeNamed", { email })}
                        onClick={() => void askRevoke(invitation)}
                      >
                        {t("members.revoke")}
                      </Button>
                    </span>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}
