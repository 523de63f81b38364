import { Button, Group } from "@mantine/core";
import { useState } from "react";
import {
  getWebhookEndpoint,
  listWebhookEndpoints,
  revealWebhookSecret,
  rotateWebhookSecret,
  type WebhookEndpoint,
} from "../../../../../server/features/webhooks/contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { useFresh } from "../../../../shared/ui/kit/useFresh.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { SecretDialog } from "./SecretDialog.tsx";

type Shown = { title: string; secret: string; until: string | null };

/** What the calls are signed with: to see it again, or to replace it. */
export function Secret({ endpoint }: { endpoint: WebhookEndpoint }) {
  const t = translator("webhooks");
  const confirm = useConfirm();
  const fresh = useFresh();
  const [shown, setShown] = useState<Shown | null>(null);
  const reveal = useAct(revealWebhookSecret);
  const rotate = useAct(rotateWebhookSecret, { changes: [getWebhookEndpoint, listWebhookEndpoints] });
  const params = { id: endpoint.id };
  const show = async (title: string, act: () => ReturnType<typeof reveal.mutateAsync>) => {
    for (const one of [reveal, rotate]) one.reset();
    try {
      const { secret, previousSecretExpiresAt: until } = await fresh(act);
      setShown({ title, secret, until });
    } catch {
      // Shown above the buttons.
    }
  };
  const askToRotate = async () => {
    const agreed = await confirm({
      title: t("secret.rotateTitle"),
      text: t("secret.rotateText"),
      confirm: t("secret.rotateConfirm"),
    });
    if (agreed) await show(t("secret.rotated"), () => rotate.mutateAsync({ params }));
  };
  const failed = [reveal, rotate].find(({ isError }) => isError);
  const { secretRotatedAt, previousSecretExpiresAt } = endpoint;
  const overlaps = previousSecretExpiresAt !== null && Date.parse(previousSecretExpiresAt) > Date.now();
  return (
    <section className="settings-section" aria-labelledby="webhook-secret">
      <h2 id="webhook-secret">{t("secret.title")}</h2>
      <p>
        {t("secret.text")}
        {secretRotatedAt !== null && (
          <>
            {" "}
            {t("secret.rotatedAt")} <When at={secretRotatedAt} />.
          </>
        )}
        {overlaps && ` ${t("secret.previous", { at: dateTime(previousSecretExpiresAt) })}`}
      </p>
      {failed && <Failure error={failed.error} />}
      <Group>
        <Button
          variant="default"
          loading={reveal.isPending}
          onClick={() => void show(t("secret.revealed"), () => reveal.mutateAsync({ params }))}
        >
          {t("secret.reveal")}
        </Button>
        <Button variant="default" loading={rotate.isPending} onClick={() => void askToRotate()}>
          {t("secret.rotate")}
        </Button>
      </Group>
      {shown && <SecretDialog {...shown} onClose={() => setShown(null)} />}
    </section>
  );
}
