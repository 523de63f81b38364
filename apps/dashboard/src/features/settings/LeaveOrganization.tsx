import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import type { DashboardSession } from "../../../../../server/features/identity/session-contract.ts";
import { leaveOrganization, listMembers } from "../../../../../server/features/organization/people-contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useWholeList } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { mayLeave } from "../../../../shared/ui/kit/useUnsaved.ts";
import { enterSession } from "../../session.tsx";

/** The way out of the organization; for its last owner the reason why there is none. */
export function LeaveOrganization({ organization }: { organization: NonNullable<DashboardSession["organization"]> }) {
  const t = translator("settings");
  const confirm = useConfirm();
  const queries = useQueryClient();
  const router = useRouter();
  const { name, role } = organization;
  const members = useWholeList(listMembers, (page) => callEndpoint(listMembers, page), { enabled: role === "owner" });
  const onlyOwner = members.data?.filter((member) => member.role === "owner").length === 1;
  const ask = async () => {
    const agreed = await confirm({
      title: t("organization.leaveTitle", { name }),
      text: t("organization.leaveText", { name }),
      confirm: t("organization.leaveConfirm"),
      danger: true,
    });
    if (!agreed) return;
    // What is open is left first, so that unsaved work can object.
    if (!(await mayLeave())) return;
    await router.navigate({ to: "/", ignoreBlocker: true });
    try {
      const session = await callEndpoint(leaveOrganization, {});
      notify({ message: t("organization.left", { name }) });
      enterSession(queries, session);
    } catch (error) {
      notify({ message: error instanceof Error ? error.message : String(error), tone: "bad" });
    }
  };
  return (
    <section className="settings-section">
      <h2>{t("organization.leave")}</h2>
      {onlyOwner ? (
        <p>
          {t("organization.leaveLastOwner", { name })}{" "}
          <Link to="/settings/members">{t("organization.leaveToMembers")}</Link>
        </p>
      ) : (
        <>
          <p>{t("organization.leaveText", { name })}</p>
          <Button variant="default" onClick={() => void ask()}>
            {t("organization.leave")}
          </Button>
        </>
      )}
    </section>
  );
}
