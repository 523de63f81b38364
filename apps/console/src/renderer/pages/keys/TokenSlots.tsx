import { Button, Radio, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useRef, useState } from "react";
import { listSettings } from "../../../../../../server/features/appliance/settings-contract.ts";
import {
  giveTokenPin,
  listManagedKeys,
  listTokenSlots,
} from "../../../../../../server/features/keys/managed-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { Empty } from "../../../../../shared/ui/kit/Empty.tsx";
import { SecretInput } from "../../../../../shared/ui/SecretInput.tsx";
import { Failure } from "../../Failure.tsx";
import { useLocalAct, useLocalSecret } from "../../local.ts";

const t = translator("console");

/** Which tokens a PKCS#11 library offers; the one that is picked gets its PIN. */
export function TokenSlots() {
  const [module, setModule] = useState("");
  const [token, setToken] = useState<string | null>(null);
  const slots = useLocalAct(listTokenSlots, { onDone: () => setToken(null) });
  const named = module.trim() === "" ? {} : { module: module.trim() };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    slots.mutate({ body: named });
  };
  return (
    <>
      <form className="form below" onSubmit={submit}>
        <TextInput
          label={t("keys.findLabel")}
          description={t("keys.findHint")}
          spellCheck={false}
          maxLength={1000}
          value={module}
          onChange={(event) => setModule(event.currentTarget.value)}
        />
        {slots.isError && <Failure error={slots.error} />}
        {slots.isSuccess &&
          (slots.data.data.length === 0 ? (
            <Empty title={t("keys.noSlots")} />
          ) : (
            <Radio.Group label={t("keys.pickToken")} value={token} onChange={setToken}>
              <Stack gap="xs" mt="xs">
                {slots.data.data.map(({ slot, label, model, manufacturer, serial, initialized }) => (
                  <Radio
                    key={slot}
                    value={label}
                    disabled={!initialized}
                    label={initialized ? label : t("keys.blank")}
                    description={`${model}, ${manufacturer}, ${serial}, ${t("keys.slot")} ${slot}`}
                  />
                ))}
              </Stack>
            </Radio.Group>
          ))}
        <Button type="submit" variant="default" loading={slots.isPending}>
          {t("keys.find")}
        </Button>
      </form>
      {token !== null && <TokenPin key={token} about={{ ...named, token }} label={token} />}
    </>
  );
}

/** The PIN of a token: each press is one try, and what was typed is gone from the page with it. */
export function TokenPin({ about, label }: { about: { module?: string; token?: string }; label: string }) {
  const field = useRef<HTMLInputElement>(null);
  const { run, pending, error, answer } = useLocalSecret(giveTokenPin, [listManagedKeys, listSettings]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const pin = field.current?.value ?? "";
    if (pin === "" || !field.current) return;
    field.current.value = "";
    void run({ body: { ...about, pin } });
  };
  return (
    <form className="form below" onSubmit={submit}>
      <SecretInput
        label={t("keys.pinOf", { label })}
        description={t("keys.pinHint")}
        autoComplete="off"
        required
        maxLength={255}
        ref={field}
      />
      {error !== null && <Failure error={error} />}
      {answer && (
        <div className={answer.accepted ? "notice" : "notice bad"} role={answer.accepted ? "status" : "alert"}>
          <strong>{answer.accepted ? t("keys.pinAccepted") : t("keys.pinRefused")}</strong>
          {answer.accepted ? t("keys.pinKept", { file: answer.pinFile ?? "" }) : t(`keys.tries.${answer.tries}`)}
          {answer.restartNeeded && <p>{t("keys.pinRestart")}</p>}
        </div>
      )}
      <Button type="submit" loading={pending}>
        {t("keys.pinTry")}
      </Button>
    </form>
  );
}
