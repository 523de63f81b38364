import { TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, Suspense, useState } from "react";
import type { OwnInvitation } from "../../../../../server/features/organization/people-contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Check, ChevronUpDown, Plus } from "../../../../shared/ui/icons.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useSession } from "../../session.tsx";
import { Disclosure } from "./Disclosure.tsx";
import { initials } from "./initials.ts";
import { useJoin, useOwnInvitations } from "./OwnInvitations.tsx";
import { useOnce } from "./useOnce.ts";
import { useSwitchOrganization } from "./useSwitchOrganization.ts";

const t = translator("shell");
/** From this many on a list is searched rather than read. */
const many = 7;

const CreateOrganization = lazy(async () => ({
  default: (await import("./CreateOrganization.tsx")).CreateOrganization,
}));

/** Which organization one works in, and the way to the others. */
export function OrganizationSwitcher() {
  const { organization, organizations, canCreateOrganization } = useSession();
  const [dialog, { open, close: closeDialog }] = useDisclosure(false);
  const dialogUsed = useOnce(dialog);
  const invitations = useOwnInvitations();
  if (!organization) return null;
  const face = (
    <>
      <span className="organization-mark" aria-hidden="true">
        {initials(organization.name)}
      </span>
      <span className="organization-words">
        <b>{organization.name}</b>
        <small>{t(`role.${organization.role}`)}</small>
      </span>
    </>
  );
  if (organizations.length < 2 && !canCreateOrganization && invitations.length === 0)
    return <div className="organization">{face}</div>;
  const buttonFace = (
    <>
      <span className="spoken">{t("organization.switch")}</span>
      {face}
      <ChevronUpDown size={18} />
    </>
  );
  return (
    <>
      <Disclosure
        className="organization organization-button"
        face={buttonFace}
        side="below"
        label={t("organization.label")}
      >
        {(close) => (
          <>
            <Organizations onDone={close} />
            {invitations.length > 0 && (
              <>
                <hr />
                <Invitations invitations={invitations} onDone={close} />
              </>
            )}
            {canCreateOrganization && (
              <>
                <hr />
                <button
                  type="button"
                  onClick={() => {
                    close();
                    open();
                  }}
                >
                  {t("organization.create")} <Plus size={16} />
                </button>
              </>
            )}
          </>
        )}
      </Disclosure>
      {dialogUsed && (
        <Suspense>
          <CreateOrganization opened={dialog} onClose={closeDialog} />
        </Suspense>
      )}
    </>
  );
}

const showFailure = (error: unknown) =>
  notify({ message: error instanceof Error ? error.message : String(error), tone: "bad" });

function Invitations({ invitations, onDone }: { invitations: readonly OwnInvitation[]; onDone: () => void }) {
  const join = useJoin();
  return (
    <ul className="organization-list" aria-label={t("invited.title")}>
      {invitations.map((invitation) => (
        <li key={invitation.id}>
          <button
            type="button"
            onClick={() => {
              onDone();
              join(invitation).catch(showFailure);
            }}
          >
            <span>
              {invitation.organization} <small>{t("invited.by", { invitedBy: invitation.invitedBy })}</small>
            </span>
            <b>{t("invited.join")}</b>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Organizations({ onDone }: { onDone: () => void }) {
  const { organization, organizations } = useSession();
  const [search, setSearch] = useState("");
  const switchTo = useSwitchOrganization();
  const shown = organizations.filter(({ name }) => name.toLowerCase().includes(search.trim().toLowerCase()));
  const choose = (id: string) => {
    onDone();
    if (id === organization?.id) return;
    switchTo(id).catch(showFailure);
  };
  return (
    <>
      {organizations.length >= many && (
        <TextInput
          type="search"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          placeholder={t("organization.search")}
          aria-label={t("organization.search")}
          data-autofocus
        />
      )}
      <ul className="organization-list">
        {shown.map(({ id, name, role }) => (
          <li key={id}>
            <button type="button" aria-current={id === organization?.id || undefined} onClick={() => choose(id)}>
              <span>
                {name} <small>{t(`role.${role}`)}</small>
              </span>
              {id === organization?.id && <Check size={16} />}
            </button>
          </li>
        ))}
      </ul>
      {shown.length === 0 && (
        <p className="disclosure-empty" role="status">
          {t("organization.none")}
        </p>
      )}
    </>
  );
}
