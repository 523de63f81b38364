import { Button, NativeSelect } from "@mantine/core";
import { useEffect, useState } from "react";
import { availableVerifications, type Role, Verification } from "../../../../../server/features/templates/contract.ts";
import { Email } from "../../../../../server/kernel/wire.ts";
import { translator } from "../../../../shared/i18n.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { CommitInput, CommitNumber } from "./CommitInput.tsx";
import type { Edit } from "./editing.ts";
import { addRole, changeRole, type Draft, fieldsOf, removeRole } from "./model.ts";
import { roleColor } from "./words.ts";

/** Who signs, in which order, and how each proves who they are. */
export function RolesPanel({ draft, edit, readOnly }: { draft: Draft; edit: Edit; readOnly: boolean }) {
  const t = translator("templates");
  const confirm = useConfirm();
  const names = draft.roles.map(({ name }) => name);
  const remove = async (index: number, role: Role) => {
    const count = fieldsOf(draft, role.name);
    const agreed =
      count === 0 ||
      (await confirm({
        title: t("roles.removeTitle", { name: role.name }),
        text: t("roles.removeText", { count }),
        confirm: t("roles.remove"),
        danger: true,
      }));
    if (agreed) edit((now) => removeRole(now, index));
  };
  return (
    <section aria-label={t("roles.title")} className="panel-section">
      <p className="hint">{t("roles.hint")}</p>
      <fieldset disabled={readOnly} className="bare stack">
        <ul className="cards">
          {draft.roles.map((role, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a role has no other name than the one that is being edited
            <li key={index} className="role-card">
              <span className="swatch" data-color={roleColor(names, role.name)} aria-hidden="true" />
              <RoleForm role={role} index={index} draft={draft} edit={edit} />
              {!readOnly && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color="gray"
                  aria-label={t("roles.removeNamed", { name: role.name })}
                  onClick={() => void remove(index, role)}
                >
                  {t("roles.remove")}
                </Button>
              )}
            </li>
          ))}
        </ul>
        {!readOnly && (
          <Button
            variant="default"
            onClick={() => edit((now) => addRole(now, t("roles.next")))}
            disabled={names.length >= 20}
          >
            {t("roles.add")}
          </Button>
        )}
      </fieldset>
    </section>
  );
}

function RoleForm({ role, index, draft, edit }: { role: Role; index: number; draft: Draft; edit: Edit }) {
  const t = translator("templates");
  const change = (patch: Partial<Role>) => edit((now) => changeRole(now, index, patch));
  const mistakeIn = (text: string) => {
    const name = text.trim();
    if (name === "" || name.length > 64) return t("roles.nameLength");
    return draft.roles.some((other, at) => at !== index && other.name === name) ? t("roles.nameTaken") : null;
  };
  return (
    <div className="role-form">
      <CommitInput
        label={t("roles.name")}
        value={role.name}
        maxLength={64}
        check={mistakeIn}
        onCommit={(name) => change({ name: name.trim() })}
      />
      <CommitNumber
        label={t("roles.order")}
        value={role.order}
        min={1}
        max={100}
        mistake={t("fields.numberBetween", { min: 1, max: 100 })}
        onCommit={(order) => change({ order: order ?? role.order })}
      />
      <NativeSelect
        label={t("roles.kind")}
        value={role.kind}
        data={[
          { value: "signer", label: t("roles.kinds.signer") },
          { value: "countersigner", label: t("roles.kinds.countersigner") },
        ]}
        onChange={(event) =>
          change(
            event.currentTarget.value === "countersigner"
              ? { kind: "countersigner" }
              : { kind: "signer", countersigner: null },
          )
        }
      />
      {role.kind === "signer" ? (
        <NativeSelect
          label={t("roles.verification")}
          value={role.verification}
          data={verificationChoices(role.verification)}
          onChange={(event) => change({ verification: Verification.parse(event.currentTarget.value) })}
        />
      ) : (
        <Countersigner role={role} change={change} />
      )}
    </div>
  );
}

/** What can be carried out here; what a role asks for besides stays and says that it cannot. */
function verificationChoices(present: Verification) {
  const t = translator("templates");
  const offered = availableVerifications.map((value) => ({ value, label: t(`verification.${value}`) }));
  if (availableVerifications.includes(present)) return offered;
  const name = t(`verification.${present}`);
  return [...offered, { value: present, label: t("roles.notSetUp", { name }) }];
}

/** The organization's own party counts when both its name and its address are there. */
function Countersigner({ role, change }: { role: Role; change: (patch: Partial<Role>) => void }) {
  const t = translator("templates");
  const [person, setPerson] = useState(role.countersigner ?? { name: "", email: "" });
  useEffect(() => {
    if (role.countersigner) setPerson(role.countersigner);
  }, [role.countersigner]);
  const take = (next: typeof person) => {
    setPerson(next);
    if (next.name !== "" && Email.safeParse(next.email).success) change({ countersigner: next });
  };
  return (
    <>
      <CommitInput
        label={t("roles.countersignerName")}
        value={person.name}
        maxLength={200}
        check={(text) => (text.trim() === "" ? t("roles.countersignerMissing") : null)}
        onCommit={(name) => take({ ...person, name: name.trim() })}
      />
      <CommitInput
        label={t("roles.countersignerEmail")}
        type="email"
        value={person.email}
        check={(text) => (Email.safeParse(text.trim()).success ? null : t("roles.emailWrong"))}
        onCommit={(email) => take({ ...person, email: email.trim() })}
      />
    </>
  );
}
