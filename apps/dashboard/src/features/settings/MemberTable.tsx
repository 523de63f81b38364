import { Button, NativeSelect } from "@mantine/core";
import { OrgRole } from "../../../../../server/features/identity/contract.ts";
import {
  changeMember,
  listMembers,
  type Member,
  removeMember,
} from "../../../../../server/features/organization/people-contract.ts";
import { getSession } from "../../../../../server/features/sign-in/contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useFresh } from "../../../../shared/ui/kit/useFresh.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useSession } from "../../session.tsx";
import "../../../../shared/ui/kit/table.css";

/** The members with what the person who looks may do to each. */
export function MemberTable({ members }: { members: readonly Member[] }) {
  const t = translator("settings");
  const { user, organization } = useSession();
  const confirm = useConfirm();
  const fresh = useFresh();
  const change = useAct(changeMember, { changes: [listMembers, getSession] });
  const remove = useAct(removeMember, { changes: [listMembers, getSession] });
  const owner = organization?.role === "owner";
  const owners = members.filter(({ role }) => role === "owner").length;
  const error = change.error ?? remove.error;

  const askChange = async (member: Member, role: OrgRole) => {
    const roleName = t(`roles.${role}`);
    const question =
      member.id === user.id
        ? {
            title: t("members.selfTitle"),
            text: t("members.selfText", { role: roleName }),
            confirm: t("members.selfConfirm"),
            danger: true,
          }
        : role === "owner"
          ? {
              title: t("members.ownerTitle", { name: member.name }),
              text: t("members.ownerText"),
              confirm: t("members.ownerConfirm"),
            }
          : role === "admin"
            ? {
                title: t("members.adminTitle", { name: member.name }),
                text: t("members.adminText"),
                confirm: t("members.adminConfirm"),
              }
            : null;
    if (question && !(await confirm(question))) return;
    remove.reset();
    // A refusal is shown above the table.
    fresh(() => change.mutateAsync({ params: { id: member.id }, body: { role } })).then(
      () => notify({ message: t("members.changed", { name: member.name, role: roleName }) }),
      () => {},
    );
  };

  const askRemove = async (member: Member) => {
    const agreed = await confirm({
      title: t("members.removeTitle", { name: member.name }),
      text: t("members.removeText", { email: member.email }),
      confirm: t("members.remove"),
      danger: true,
    });
    if (!agreed) return;
    change.reset();
    fresh(() => remove.mutateAsync({ params: { id: member.id } })).then(
      () => notify({ message: t("members.removed", { name: member.name }) }),
      () => {},
    );
  };

  /** Why this member's role cannot be changed by whoever looks; null when it can. */
  const obstacle = (member: Member): string | null => {
    if (member.role !== "owner") return null;
    if (!owner) return t("members.ownersOnly");
    return owners === 1 ? t("members.lastOwner") : null;
  };

  return (
    <>
      {error && <Failure error={error} />}
      <table className="list-table people-table">
        <caption className="spoken">{t("members.count", { count: members.length })}</caption>
        <thead>
          <tr>
            <th scope="col">{t("members.person")}</th>
            <th scope="col">{t("members.role")}</th>
            <th scope="col">{t("members.joined")}</th>
            <th scope="col">{t("members.lastSignIn")}</th>
            <th scope="col">
              <span className="spoken">{t("members.actions")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {members.map((member) => {
            const reason = obstacle(member);
            return (
              <tr key={member.id}>
                <th scope="row">
                  <strong>{member.name}</strong>
                  {member.id === user.id && <span className="soft"> ({t("members.you")})</span>}
                  <small>{member.email}</small>
                </th>
                <td data-label={t("members.role")}>
                  {reason === null ? (
                    <NativeSelect
                      className="people-role"
                      aria-label={t("members.roleOf", { name: member.name })}
                      value={
                        change.isPending && change.variables.params.id === member.id
                          ? change.variables.body.role
                          : member.role
                      }
                      data={OrgRole.options
                        .filter((role) => owner || role !== "owner")
                        .map((role) => ({ value: role, label: t(`roles.${role}`) }))}
                      disabled={change.isPending}
                      onChange={(event) => void askChange(member, OrgRole.parse(event.currentTarget.value))}
                    />
                  ) : (
                    <div className="people-role">
                      {t(`roles.${member.role}`)}
                      <small>{reason}</small>
                    </div>
                  )}
                </td>
                <td data-label={t("members.joined")}>
                  <When at={member.joinedAt} />
                </td>
                <td data-label={t("members.lastSignIn")}>
                  {member.lastSignInAt ? <When at={member.lastSignInAt} /> : t("members.neverSignedIn")}
                </td>
                <td>
                  {reason === null && member.id !== user.id && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={t("members.removeNamed", { name: member.name })}
                      onClick={() => void askRemove(member)}
                    >
                      {t("members.remove")}
                    </Button>
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
