import { Button, Group } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import type { Form } from "./form.ts";
import { stepOf } from "./request.ts";
import { Steps } from "./Steps.tsx";

const t = translator("send");

type Props = {
  form: Form;
  /** Of the template or document. */
  name: string;
  /** Leads back to the choice of what is sent. */
  leave: ReactNode;
  /** Sends it; shown on the last part. */
  send: ReactNode;
  children: ReactNode;
};

/** The three parts of the way to an envelope: one is shown, the others are a press away, and Back undoes one step. */
export function SendFrame({ form, name, leave, send, children }: Props) {
  const confirm = useConfirm();
  const { step, steps } = form;
  const place = steps.indexOf(step);
  const previous = steps[place - 1];
  const next = steps[place + 1];
  const startOver = async () => {
    const agreed = await confirm({
      title: t("startOver"),
      text: t("startOverText"),
      confirm: t("startOver"),
      danger: true,
    });
    if (agreed) form.startOver();
  };
  return (
    <>
      <Steps at={step} steps={steps} onGo={form.go} />
      <Part isForm={step !== "fields"} onDone={() => next && form.go(next)}>
        <div className="send-step-head">
          <h2 id="send-step" tabIndex={-1}>
            {t(`steps.${step}`)}
          </h2>
          <span className="soft">{name}</span>
        </div>
        <LooseErrors form={form} />
        {children}
        <div className="send-bar">
          <Group gap="sm">
            {previous ? (
              <Button variant="default" onClick={() => form.go(previous)}>
                {t("back")}
              </Button>
            ) : (
              leave
            )}
            {form.touched && (
              <button type="button" className="plain" onClick={() => void startOver()}>
                {t("startOver")}
              </button>
            )}
          </Group>
          {next ? (
            <Button type={step === "fields" ? "button" : "submit"} onClick={() => step === "fields" && form.go(next)}>
              {t("next", { step: t(`steps.${next}`) })}
            </Button>
          ) : (
            send
          )}
        </div>
      </Part>
    </>
  );
}

/** Enter in an input of a form leads on; on the pages of a document it has its own meaning. */
function Part({ isForm, onDone, children }: { isForm: boolean; onDone: () => void; children: ReactNode }) {
  if (!isForm) {
    return (
      <section className="send-step" aria-labelledby="send-step">
        {children}
      </section>
    );
  }
  return (
    <form
      className="send-step"
      aria-labelledby="send-step"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onDone();
      }}
    >
      {children}
    </form>
  );
}

/** What is wrong with something that has no input of its own. */
function LooseErrors({ form }: { form: Form }) {
  const { errors, step, steps } = form;
  const [loose, setLoose] = useState<string[]>([]);
  useEffect(() => {
    const shown = new Set(
      Array.from(document.querySelectorAll("[data-pointer]"), (input) => input.getAttribute("data-pointer")),
    );
    const here = Object.entries(errors).filter(([pointer]) => stepOf(pointer, steps) === step && !shown.has(pointer));
    setLoose(here.map(([, detail]) => detail));
  }, [errors, step, steps]);
  if (loose.length === 0) return null;
  return (
    <div className="notice bad" role="alert">
      <strong>{t("attention")}</strong>
      {loose.join(" ")}
    </div>
  );
}
