import { Button, Radio, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import {
  changeRetention,
  getEnvelopeRetention,
  getRetention,
  type RetentionSettings,
} from "../../../../../server/features/retention/contract.ts";
import { useAct, useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";

/** How long the organization keeps documents. */
export function Retention() {
  const t = translator("settings");
  const settings = useEndpoint(getRetention, {});
  return (
    <section className="settings-section" aria-labelledby="retention">
      <h2 id="retention">{t("retention.title")}</h2>
      <p>{t("retention.text")}</p>
      {settings.isPending && <Loading rows={2} height={40} />}
      {settings.isError && <Failure error={settings.error} />}
      {settings.data && <RetentionForm saved={settings.data} />}
    </section>
  );
}

function RetentionForm({ saved }: { saved: RetentionSettings }) {
  const t = translator("settings");
  const confirm = useConfirm();
  const [choice, setChoice] = useState(saved.keepDays === null ? "forever" : "limited");
  const [days, setDays] = useState(saved.keepDays === null ? "" : String(saved.keepDays));
  const [wrong, setWrong] = useState(false);
  const act = useAct(changeRetention, {
    changes: [getRetention, getEnvelopeRetention],
    onDone: () => notify({ message: t("retention.saved") }),
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const count = Number(days);
    const valid = choice === "forever" || (/^\d+$/.test(days.trim()) && count >= 1 && count <= 36_500);
    setWrong(!valid);
    if (!valid) return;
    const shorter = choice === "limited" && (saved.keepDays === null || count < saved.keepDays);
    const question = {
      title: t("retention.confirmTitle", { count }),
      text: t("retention.confirmText"),
      confirm: t("retention.confirm", { count }),
      danger: true,
    };
    if (shorter && !(await confirm(question))) return;
    act.mutate({ body: { keepDays: choice === "forever" ? null : count } });
  };
  return (
    <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
      {act.isError && <Failure error={act.error} />}
      <Radio.Group value={choice} onChange={setChoice} aria-labelledby="retention">
        <Radio value="forever" label={t("retention.forever")} />
        <Radio mt="xs" value="limited" label={t("retention.limited")} />
      </Radio.Group>
      {choice === "limited" && (
        <TextInput
          label={t("retention.days")}
          value={days}
          onChange={({ currentTarget }) => setDays(currentTarget.value)}
          inputMode="numeric"
          maxLength={5}
          error={wrong && t("retention.badDays")}
          required
        />
      )}
      {saved.actsFrom !== null && (
        <p role="status">
          {t("retention.actsFrom")} <When at={saved.actsFrom} />
        </p>
      )}
      {saved.due > 0 && <p role="status">{t("retention.due", { count: saved.due })}</p>}
      {saved.held > 0 && <p className="soft">{t("retention.held", { count: saved.held })}</p>}
      <div>
        <Button type="submit" loading={act.isPending}>
          {t("retention.save")}
        </Button>
      </div>
    </form>
  );
}
