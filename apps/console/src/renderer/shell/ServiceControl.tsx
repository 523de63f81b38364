import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { translator } from "../../../../shared/i18n.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { ask } from "../bridge.ts";

const t = translator("console");

export type Verb = "start" | "stop" | "restart";

/** Starts and stops the service of this machine; the operating system asks for an administrator. */
export function ServiceControl({ verbs, onDone }: { verbs: readonly Verb[]; onDone: () => void }) {
  const confirm = useConfirm();
  const control = useMutation({
    mutationFn: (verb: Verb) => ask("service.control", { verb }),
    onSuccess: ({ outcome, detail }) => {
      if (outcome === "done") notify({ message: t("service.done") });
      else notify({ message: [t(`service.${outcome}`), detail].filter(Boolean).join(" "), tone: "bad" });
      onDone();
    },
    onError: (error) => notify({ message: error.message, tone: "bad" }),
  });
  const run = async (verb: Verb) => {
    const agreed =
      verb === "start" ||
      (await confirm({
        title: t(`service.ask.${verb}`),
        text: t("service.ask.text"),
        confirm: t(`service.${verb}`),
        danger: verb === "stop",
      }));
    if (agreed) control.mutate(verb);
  };
  return (
    <>
      {verbs.map((verb) => (
        <Button
          key={verb}
          variant={verb === "start" ? "filled" : "default"}
          loading={control.isPending && control.variables === verb}
          disabled={control.isPending}
          onClick={() => void run(verb)}
        >
          {t(`service.${verb}`)}
        </Button>
      ))}
    </>
  );
}
