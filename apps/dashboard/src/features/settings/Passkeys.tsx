import { Button } from "@mantine/core";
import { useState } from "react";
import { deletePasskey, listPasskeys, type Passkey } from "../../../../../server/features/sign-in/passkeys/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useAct, useWholeList } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { useFresh } from "../../../../shared/ui/kit/useFresh.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { addressIsDomain, localName, passkeysHere } from "../access/passkey.ts";
import { AccountSection } from "./AccountSection.tsx";
import { AddPasskey } from "./AddPasskey.tsx";
import { RenamePasskey } from "./RenamePasskey.tsx";

/** The person's passkeys: add, name, remove. */
export function Passkeys() {
  const t = translator("settings");
  const passkeys = useWholeList(listPasskeys, (page) => callEndpoint(listPasskeys, page));
  const possible = passkeysHere() && addressIsDomain();
  const local = localName();
  const list = passkeys.data ?? [];
  return (
    <AccountSection title={t("account.passkeys.title")} text={t("account.passkeys.text")}>
      {passkeys.isPending && <Loading rows={1} />}
      {passkeys.isError && <Failure error={passkeys.error} />}
      {passkeys.data && list.length === 0 && <p className="soft account-note">{t("account.passkeys.none")}</p>}
      {list.length > 0 && (
        <ul className="account-list" aria-label={t("account.passkeys.title")}>
          {list.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      )}
      {possible ? (
        <AddPasskey />
      ) : (
        <p className="soft account-note">
          {!passkeysHere()
            ? t("account.passkeys.needBrowser")
            : local === null
              ? t("account.passkeys.needDomain")
              : t("account.passkeys.needName", { address: local })}
        </p>
      )}
    </AccountSection>
  );
}

function PasskeyRow({ passkey }: { passkey: Passkey }) {
  const t = translator("settings");
  const { id, name } = passkey;
  const confirm = useConfirm();
  const fresh = useFresh();
  const [renaming, setRenaming] = useState(false);
  /** The focus comes back to the button that opened the form. */
  const [opened, setOpened] = useState(false);
  const remove = useAct(deletePasskey, { changes: [listPasskeys] });

  const askToRemove = async () => {
    const agreed = await confirm({
      title: t("account.passkeys.removeTitle", { name }),
      text: t("account.passkeys.removeText"),
      confirm: t("account.passkeys.remove"),
      danger: true,
    });
    if (!agreed) return;
    try {
      await fresh(() => remove.mutateAsync({ params: { id } }));
      notify({ message: t("account.passkeys.removed", { name }) });
    } catch {
      // Shown in the row.
    }
  };

  if (renaming) {
    return (
      <li>
        <RenamePasskey passkey={passkey} onClose={() => setRenaming(false)} />
      </li>
    );
  }
  return (
    <li>
      <div className="account-line">
        <div className="account-words">
          <strong>{name}</strong>
          {passkey.backedUp && <StatusBadge tone="neutral">{t("account.passkeys.synced")}</StatusBadge>}
          <small>
            {t("account.passkeys.added")} <When at={passkey.createdAt} />
            {" · "}
            {passkey.lastUsedAt === null ? (
              t("account.passkeys.unused")
            ) : (
              <>
                {t("account.passkeys.used")} <When at={passkey.lastUsedAt} />
              </>
            )}
          </small>
        </div>
        <div className="account-actions">
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t("account.passkeys.renameNamed", { name })}
            autoFocus={opened}
            onClick={() => {
              setOpened(true);
              setRenaming(true);
            }}
          >
            {t("account.passkeys.rename")}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t("account.passkeys.removeNamed", { name })}
            loading={remove.isPending}
            onClick={() => void askToRemove()}
          >
            {t("account.passkeys.remove")}
          </Button>
        </div>
      </div>
      {remove.isError && <Failure error={remove.error} />}
    </li>
  );
}
