import { Button, Checkbox, Group, NativeSelect, SegmentedControl, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import {
  type ApiKeyCreated,
  ApiKeyMode,
  createApiKey,
  listApiKeys,
} from "../../../../../server/features/identity/contract.ts";
import { administrativePermissions, type Permission, permissions } from "../../../../../server/kernel/wire.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { useFresh } from "../../../../shared/ui/kit/useFresh.tsx";
import { useMode } from "../../mode.tsx";
import { useSession } from "../../session.tsx";

const lifetimes = ["30", "90", "365", "none"] as const;
const groups = [
  { name: "templates", scopes: permissions.filter((scope) => scope.startsWith("template:")) },
  { name: "envelopes", scopes: permissions.filter((scope) => scope.startsWith("envelope:")) },
  { name: "administration", scopes: administrativePermissions },
] as const;

/** A colon stands for something else in the names of words. */
const scopeWords = {
  "template:read": "templateRead",
  "template:write": "templateWrite",
  "template:publish": "templatePublish",
  "envelope:read": "envelopeRead",
  "envelope:send": "envelopeSend",
  "envelope:void": "envelopeVoid",
  "org:manage": "orgManage",
  "billing:manage": "billingManage",
  "member:manage": "memberManage",
  "sso:manage": "ssoManage",
  "apikey:manage": "apikeyManage",
} as const satisfies Record<Permission, string>;

type Props = { onClose: () => void; onCreated: (key: ApiKeyCreated) => void };

/** Asks what the key is for. Nobody can grant what they do not hold, so that is not offered. */
export function CreateKey({ onClose, onCreated }: Props) {
  const t = translator("settings");
  const fresh = useFresh();
  const held = new Set<Permission>(useSession().organization?.permissions ?? []);
  const [name, setName] = useState("");
  const [mode, setMode] = useState<ApiKeyCreated["mode"]>(useMode().testMode ? "test" : "live");
  const [lifetime, setLifetime] = useState<string>("90");
  const [scopes, setScopes] = useState<ReadonlySet<Permission>>(
    () => new Set(permissions.filter((scope) => held.has(scope) && !administrativePermissions.includes(scope))),
  );
  const [checked, setChecked] = useState(false);
  const create = useAct(createApiKey, { changes: [listApiKeys] });
  const errors = fieldErrors(create.error);
  const nameMissing = checked && name.trim() === "";
  const scopesMissing = checked && scopes.size === 0;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (name.trim() === "" || scopes.size === 0) return;
    try {
      const body = {
        name: name.trim(),
        mode,
        expiresInDays: lifetime === "none" ? null : Number(lifetime),
        scopes: permissions.filter((scope) => scopes.has(scope)),
      };
      onCreated(await fresh(() => create.mutateAsync({ body })));
    } catch {
      // Shown in the form.
    }
  };
  const toggle = (scope: Permission, on: boolean) => {
    const next = new Set(scopes);
    if (on) next.add(scope);
    else next.delete(scope);
    setScopes(next);
  };

  return (
    <Dialog opened onClose={onClose} busy={create.isPending} title={t("keys.createTitle")} size="lg">
      <form className="key-form" onSubmit={(event) => void submit(event)}>
        <TextInput
          data-autofocus
          label={t("keys.name")}
          description={t("keys.nameHint")}
          value={name}
          maxLength={100}
          error={nameMissing ? t("keys.nameMissing") : errors["#/name"]}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div>
          <p className="key-label" id="key-mode">
            {t("keys.mode")}
          </p>
          <SegmentedControl
            aria-labelledby="key-mode"
            value={mode}
            onChange={(value) => setMode(ApiKeyMode.parse(value))}
            data={ApiKeyMode.options.map((value) => ({ value, label: t(`keys.modes.${value}`) }))}
          />
          <p className="hint">{t(`keys.modeHint.${mode}`)}</p>
        </div>
        <NativeSelect
          label={t("keys.lifetime")}
          value={lifetime}
          data={lifetimes.map((value) => ({ value, label: t(`keys.lifetimes.${value}`) }))}
          onChange={(event) => setLifetime(event.currentTarget.value)}
        />
        {lifetime === "none" && <p className="hint">{t("keys.noneHint")}</p>}
        {groups.map((group) => {
          const offered = group.scopes.filter((scope) => held.has(scope));
          if (offered.length === 0) return null;
          return (
            <fieldset key={group.name} className="scope-group">
              <legend>{t(`keys.group.${group.name}`)}</legend>
              {group.name === "administration" && <p className="hint">{t("keys.administrationHint")}</p>}
              {offered.map((scope) => (
                <Checkbox
                  key={scope}
                  label={
                    <>
                      {t(`keys.scope.${scopeWords[scope]}`)} <code>{scope}</code>
                    </>
                  }
                  checked={scopes.has(scope)}
                  onChange={(event) => toggle(scope, event.currentTarget.checked)}
                />
              ))}
            </fieldset>
          );
        })}
        {scopesMissing && (
          <p className="refused" role="alert">
            {t("keys.scopesMissing")}
          </p>
        )}
        {create.isError && !errors["#/name"] && <Failure error={create.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={create.isPending}>
            {translator("common")("cancel")}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {t("keys.createConfirm")}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
