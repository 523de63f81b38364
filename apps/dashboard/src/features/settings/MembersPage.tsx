import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import { listInvitations, listMembers } from "../../../../../server/features/organization/people-contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useWholeList } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useKeptFocus } from "../../../../shared/ui/kit/useKeptFocus.ts";
import { useCan, useSession } from "../../session.tsx";
import { MailNotice } from "../shell/MailNotice.tsx";
import { InvitationTable } from "./InvitationTable.tsx";
import { InviteDialog } from "./InviteDialog.tsx";
import { MemberTable } from "./MemberTable.tsx";

/** Who works in the organization as what, and who was invited. */
export function MembersPage() {
  const t = translator("settings");
  const canManage = useCan("member:manage");
  const { organization } = useSession();
  const [inviting, setInviting] = useState(false);
  // A row that was removed takes the focus along.
  const page = useRef<HTMLDivElement>(null);
  useKeptFocus(page);
  const members = useWholeList(listMembers, (page) => callEndpoint(listMembers, page), { enabled: canManage });
  const invitations = useWholeList(listInvitations, (page) => callEndpoint(listInvitations, page), {
    enabled: canManage,
  });
  return (
    <div ref={page}>
      <PageHeader
        title={t("members.title")}
        description={t("members.description", { name: organization?.name ?? "" })}
        actions={canManage && <Button onClick={() => setInviting(true)}>{t("members.invite")}</Button>}
      />
      {!canManage && <Empty title={t("members.forbidden")} text={t("members.forbiddenText")} />}
      {canManage && members.isPending && <Loading rows={4} height={56} />}
      {members.isError && <Failure error={members.error} />}
      {members.data && <MemberTable members={members.data} />}
      {canManage && (
        <section className="settings-section">
          <h2>{t("members.invitations")}</h2>
          {invitations.data && invitations.data.length > 0 && <MailNotice />}
          {invitations.isPending && <Loading rows={2} height={56} />}
          {invitations.isError && <Failure error={invitations.error} />}
          {invitations.data?.length === 0 && <p>{t("members.noInvitations")}</p>}
          {invitations.data && invitations.data.length > 0 && <InvitationTable invitations={invitations.data} />}
        </section>
      )}
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </div>
  );
}
