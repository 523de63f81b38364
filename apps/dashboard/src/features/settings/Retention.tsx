import { Button, Radio, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import {
  changeRetention,
  getEnvelopeRetention,
  getRetention,
  type RetentionSettings,
  retentionTag,
} from "../../../../../server/features/retention/contract.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
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
      {settings.data && <RetentionForm saved={settings.data} onOvertaken={settings.refetch} />}
    </section>
  );
}

/** What a person chose, and what was set when they began. */
type Edited = { choice: string; days: string; began: number | null };

const choiceOf = ({ keepDays }: RetentionSettings) => ({
  choice: keepDays === null ? "forever" : "limited",
  days: keepDays === null ? "" : String(keepDays),
});

type FormProps = { saved: RetentionSettings; onOvertaken: () => Promise<{ data: RetentionSettings | undefined }> };

function RetentionForm({ saved, onOvertaken }: FormProps) {
  const t = translator("settings");
  const confirm = useConfirm();
  const [edited, setEdited] = useState<Edited | null>(null);
  const { choice, days } = edited ?? choiceOf(saved);
  const began = edited ? edited.began : saved.keepDays;
  const edit = (change: Partial<Edited>) =>
    setEdited((now) => ({ ...(now ?? { ...choiceOf(saved), began: saved.keepDays }), ...change }));
  const [wrong, setWrong] = useState(false);
  const [overtaken, setOvertaken] = useState(false);
  const act = useAct(changeRetention, { changes: [getRetention, getEnvelopeRetention] });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const count = Number(days);
    const valid = choice === "forever" || (/^\d+$/.test(days.trim()) && count >= 1 && count <= 36_500);
    setWrong(!valid);
    if (!valid) return;
    const shorter = choice === "limited" && (began === null || count < began);
    const question = {
      title: t("retention.confirmTitle", { count }),
      text: t("retention.confirmText"),
      confirm: t("retention.confirm", { count }),
      danger: true,
    };
    if (shorter && !(await confirm(question))) return;
    const keepDays = choice === "forever" ? null : count;
    try {
      await act.mutateAsync({ body: { keepDays }, ifMatch: retentionTag({ keepDays: began }) });
      // What was typed meanwhile is still to be saved.
      setEdited((now) => (now === edited ? null : now && { ...now, began: keepDays }));
      setOvertaken(false);
      notify({ message: t("retention.saved") });
    } catch (error) {
      if (!isOvertaken(error)) return;
      const { data } = await onOvertaken();
      if (data === undefined) return;
      // What was chosen stays in the form; it is saved by whoever has read what a colleague set.
      setEdited((now) => ({ ...(now ?? { choice, days }), began: data.keepDays }));
      setOvertaken(true);
    }
  };
  return (
    <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
      {act.isError && !isOvertaken(act.error) && <Failure error={act.error} />}
      {overtaken && (
        <div className="notice" role="alert">
          <strong>{t("retention.overtaken")}</strong>
          {began === null ? t("retention.nowForever") : t("retention.nowLimited", { count: began })}{" "}
          {t("retention.saveAgain")}
        </div>
      )}
      <Radio.Group value={choice} onChange={(value) => edit({ choice: value })} aria-labelledby="retention">
        <Radio value="forever" label={t("retention.forever")} />
        <Radio mt="xs" value="limited" label={t("retention.limited")} />
      </Radio.Group>
      {choice === "limited" && (
        <TextInput
          label={t("retention.days")}
          value={days}
          onChange={({ currentTarget }) => edit({ days: currentTarget.value })}
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

const isOvertaken = (error: unknown): boolean =>
  error instanceof ProblemResponse && error.problem.code === "precondition-failed";
