import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import {
  type ApiKey,
  type ApiKeyCreated,
  deleteApiKey,
  listApiKeys,
} from "../../../../../server/features/identity/contract.ts";
import { useAct, useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Shield } from "../../../../shared/ui/icons.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { CopyField } from "../../../../shared/ui/kit/CopyField.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { useFresh } from "../../../../shared/ui/kit/useFresh.tsx";
import { useKeptFocus } from "../../../../shared/ui/kit/useKeptFocus.ts";
import { useUnsaved } from "../../../../shared/ui/kit/useUnsaved.ts";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useCan } from "../../session.tsx";
import { CreateKey } from "./CreateKey.tsx";
import { NewKey } from "./NewKey.tsx";
import "../../../../shared/ui/kit/table.css";
import "./keys.css";

/** The organization's API keys: what each may do, when it was last used, and the way to make and revoke them. */
export function KeysPage() {
  const t = translator("settings");
  const canManage = useCan("apikey:manage");
  const [creating, setCreating] = useState(false);
  // A row that was removed takes the focus along.
  const page = useRef<HTMLDivElement>(null);
  useKeptFocus(page);
  const [created, setCreated] = useState<ApiKeyCreated | null>(null);
  // A key is shown once: whoever goes back before it is copied is asked.
  useUnsaved(created !== null);
  const keys = useEndpoint(listApiKeys, { query: { limit: "100" } }, { enabled: canManage });
  const create = canManage && <Button onClick={() => setCreating(true)}>{t("keys.create")}</Button>;
  return (
    <div ref={page}>
      <PageHeader title={t("keys.title")} description={t("keys.description")} actions={create} />
      {!canManage && <Empty title={t("keys.forbidden")} text={t("keys.forbiddenText")} />}
      {canManage && keys.isPending && <Loading rows={4} />}
      {keys.isError && <Failure error={keys.error} />}
      {keys.data &&
        (keys.data.data.length === 0 ? (
          <Empty icon={<Shield size={32} />} title={t("keys.none")} text={t("keys.noneText")} action={create} />
        ) : (
          <KeyTable keys={keys.data.data} />
        ))}
      {canManage && <Addresses />}
      {creating && (
        <CreateKey
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false);
            setCreated(key);
          }}
        />
      )}
      {created && <NewKey created={created} onClose={() => setCreated(null)} />}
    </div>
  );
}

/** Where a key is used: the API, and the address for assistants. */
function Addresses() {
  const t = translator("settings");
  const { origin } = window.location;
  return (
    <section className="settings-section" aria-labelledby="key-addresses">
      <h2 id="key-addresses">{t("keys.use")}</h2>
      <p>
        {t("keys.useText")} <a href="/docs">{t("keys.reference")}</a>
      </p>
      <div className="settings-form">
        <CopyField label={t("keys.api")} value={`${origin}/v1`} />
        <CopyField label={t("keys.mcp")} description={t("keys.mcpHint")} value={`${origin}/mcp`} />
      </div>
    </section>
  );
}

function KeyTable({ keys }: { keys: readonly ApiKey[] }) {
  const t = translator("settings");
  const confirm = useConfirm();
  const fresh = useFresh();
  const revoke = useAct(deleteApiKey, { changes: [listApiKeys] });
  const ask = async (key: ApiKey) => {
    const agreed = await confirm({
      title: t("keys.revokeTitle", { name: key.name }),
      text: t("keys.revokeText", { hint: key.hint }),
      confirm: t("keys.revokeConfirm"),
      danger: true,
    });
    if (!agreed) return;
    try {
      await fresh(() => revoke.mutateAsync({ params: { id: key.id } }));
      notify({ message: t("keys.revoked", { name: key.name }), tone: "good" });
    } catch {
      // Shown above the table.
    }
  };
  return (
    <>
      {revoke.isError && <Failure error={revoke.error} />}
      <table className="list-table keys-table">
        <thead>
          <tr>
            <th scope="col">{t("keys.name")}</th>
            <th scope="col">{t("keys.mode")}</th>
            <th scope="col">{t("keys.scopes")}</th>
            <th scope="col">{t("keys.expires")}</th>
            <th scope="col">{t("keys.lastUsed")}</th>
            <th scope="col">
              <span className="spoken">{t("keys.actions")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <th scope="row">
                {key.name}
                <small>
                  <code>{key.hint}</code>
                </small>
              </th>
              <td data-label={t("keys.mode")}>
                <StatusBadge tone={key.mode === "live" ? "good" : "neutral"}>{t(`keys.modes.${key.mode}`)}</StatusBadge>
              </td>
              <td data-label={t("keys.scopes")}>
                <details>
                  <summary>{t("keys.scopeCount", { count: key.scopes.length })}</summary>
                  <ul className="scope-list">
                    {key.scopes.map((scope) => (
                      <li key={scope}>
                        <code>{scope}</code>
                      </li>
                    ))}
                  </ul>
                </details>
              </td>
              <td data-label={t("keys.expires")}>
                {key.status === "expired" ? (
                  <StatusBadge tone="bad">{t("keys.expired")}</StatusBadge>
                ) : key.expiresAt ? (
                  <When at={key.expiresAt} />
                ) : (
                  t("keys.never")
                )}
              </td>
              <td data-label={t("keys.lastUsed")}>
                {key.lastUsedAt ? (
                  <>
                    <When at={key.lastUsedAt} />
                    {key.lastUsedIp && <small>{key.lastUsedIp}</small>}
                  </>
                ) : (
                  <span className="soft">{t("keys.unused")}</span>
                )}
              </td>
              <td>
                <Button
                  size="compact-sm"
                  variant="default"
                  color="brick"
                  aria-label={t("keys.revokeNamed", { name: key.name })}
                  onClick={() => void ask(key)}
                >
                  {t("keys.revoke")}
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
