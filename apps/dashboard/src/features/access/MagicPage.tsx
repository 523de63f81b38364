import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lookAtMagicLink, signInWithMagicLink } from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { sessionQuery } from "../../session.tsx";
import { AccessCard } from "./AccessCard.tsx";
import { AccessFailure } from "./AccessFailure.tsx";
import { tokenOf } from "./token.ts";
import { useEnter } from "./useEnter.ts";
import { useFields } from "./useFields.ts";

const t = translator("access");

/** A mailed link signs in by one press: mail scanners open links, and would use it up. */
export function MagicPage() {
  const token = tokenOf("svcm_");
  const enter = useEnter();
  const look = useEndpoint(lookAtMagicLink, { body: { token: token ?? "" } }, { enabled: token !== null });
  // Nobody being signed in is one of the answers.
  const session = useQuery({ ...sessionQuery, throwOnError: false, enabled: look.data?.replacesSession === true });
  const fields = useFields(
    {},
    {
      check: () => ({}),
      submit: async () => {
        if (token === null) return;
        const { session, returnTo } = await callEndpoint(signInWithMagicLink, { body: { token } });
        enter(session, returnTo);
      },
    },
  );
  const failure = fields.failure ?? look.error;
  if (token === null) {
    return (
      <AccessCard title={t("magic.title")} lead={t("magic.noLink")}>
        <Button component={Link} to="/sign-in" variant="default" fullWidth>
          {t("toSignIn")}
        </Button>
      </AccessCard>
    );
  }
  return (
    <AccessCard title={t("magic.title")} lead={t("magic.lead")}>
      {look.data && <p>{t("magic.account", { email: look.data.email })}</p>}
      {look.data?.replacesSession && (
        <div className="notice">
          {session.data ? t("magic.otherPerson", { here: session.data.user.email }) : t("magic.otherSomebody")}
        </div>
      )}
      <form ref={fields.form} className="access-form" onSubmit={fields.onSubmit}>
        <AccessFailure error={failure} />
        {failure === null ? (
          <Button type="submit" size="md" fullWidth loading={fields.pending || look.isPending}>
            {t("signIn.action")}
          </Button>
        ) : (
          <Button component={Link} to="/sign-in" variant="default" fullWidth>
            {t("toSignIn")}
          </Button>
        )}
      </form>
    </AccessCard>
  );
}
