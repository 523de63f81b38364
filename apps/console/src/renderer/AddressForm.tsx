import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { translator } from "../../../shared/i18n.ts";
import { ApplianceUrl } from "../shared/ipc.ts";
import { ask } from "./bridge.ts";

/** Which appliance this console looks at. */
export function AddressForm({ onSaved }: { onSaved: () => void }) {
  const t = translator("console");
  const stored = useQuery({
    queryKey: ["url"],
    queryFn: () => ask("settings.url.get"),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [typed, setTyped] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const save = useMutation({
    mutationFn: (url: string) => ask("settings.url.set", { url }),
    networkMode: "always",
    onSuccess: ({ url }) => {
      setTyped(url);
      onSaved();
    },
    onError: () => setProblem(t("form.failed")),
  });

  const value = typed ?? stored.data?.url ?? "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const parsed = ApplianceUrl.safeParse(value);
    setProblem(parsed.success ? null : t(reasonOf(parsed.error.issues[0]?.message)));
    if (parsed.success) save.mutate(value);
  };
  return (
    <section className="card" aria-labelledby="form-title">
      <h2 id="form-title">{t("form.title")}</h2>
      <form onSubmit={submit} noValidate>
        <label htmlFor="url">{t("form.label")}</label>
        <div className="row">
          <input
            id="url"
            type="url"
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            value={value}
            aria-invalid={problem !== null}
            aria-describedby={problem ? "url-problem url-hint" : "url-hint"}
            onChange={(event) => {
              setTyped(event.target.value);
              setProblem(null);
              save.reset();
            }}
          />
          <button type="submit" className="button main">
            {t("form.save")}
          </button>
        </div>
        <p id="url-hint" className="soft small">
          {t("form.hint")}
        </p>
        <div role="alert">
          {problem && (
            <p id="url-problem" className="problem">
              {problem}
            </p>
          )}
        </div>
        <div role="status">{save.isSuccess && <p className="saved">{t("form.saved")}</p>}</div>
      </form>
    </section>
  );
}

/** The schema names its two own reasons; everything else is no URL at all. */
function reasonOf(message: string | undefined) {
  if (message === "plain-http" || message === "not-an-origin") return `form.problem.${message}` as const;
  return "form.problem.not-a-url" as const;
}
