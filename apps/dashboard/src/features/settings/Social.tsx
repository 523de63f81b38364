import { Button } from "@mantine/core";
import { getSignInOptions } from "../../../../../server/features/sign-in/contract.ts";
import {
  deleteSocialIdentity,
  listSocialIdentities,
  type SocialIdentity,
  type SocialProvider,
  socialProviders,
  startSocialSignIn,
} from "../../../../../server/features/sign-in/social/contract.ts";
import { addressOf } from "../../../../../server/kernel/endpoint.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useAct, useEndpoint, useWholeList } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useFresh, useSignInAgain } from "../../../../shared/ui/kit/useFresh.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useSession } from "../../session.tsx";
import { ProviderMark, providerName } from "../access/ProviderMark.tsx";
import { AccountSection } from "./AccountSection.tsx";

/** A sign-in that is nearly fifteen minutes old would be too old when the provider sends the browser back. */
const freshEnoughMs = 10 * 60_000;

/** Accounts elsewhere that sign the person in; nothing when the operator has set up no provider. */
export function Social() {
  const t = translator("settings");
  const options = useEndpoint(getSignInOptions, {});
  const identities = useWholeList(listSocialIdentities, (page) => callEndpoint(listSocialIdentities, page));
  if (options.isPending || identities.isPending) return null;
  const connected = identities.data ?? [];
  const shown = socialProviders.filter(
    (provider) => options.data?.social.includes(provider) || connected.some((one) => one.provider === provider),
  );
  const error = options.error ?? identities.error;
  if (shown.length === 0 && !error) return null;
  return (
    <AccountSection title={t("account.social.title")} text={t("account.social.text")}>
      {error && <Failure error={error} />}
      <ul className="account-list" aria-label={t("account.social.title")}>
        {shown.map((provider) => (
          <ProviderRow
            key={provider}
            provider={provider}
            identities={connected.filter((one) => one.provider === provider)}
          />
        ))}
      </ul>
    </AccountSection>
  );
}

function ProviderRow({ provider, identities }: { provider: SocialProvider; identities: readonly SocialIdentity[] }) {
  const t = translator("settings");
  const { session } = useSession();
  const confirm = useConfirm();
  const fresh = useFresh();
  const signInAgain = useSignInAgain();
  const disconnect = useAct(deleteSocialIdentity, { changes: [listSocialIdentities] });
  const name = providerName(provider);

  const connect = async () => {
    const old = Date.now() - Date.parse(session.signedInAt) > freshEnoughMs;
    if (old && !(await signInAgain("old"))) return;
    window.location.assign(addressOf(startSocialSignIn, { provider }, { returnTo: "/settings/account" }));
  };
  const askToDisconnect = async () => {
    const agreed = await confirm({
      title: t("account.social.disconnectTitle", { name }),
      text: t("account.social.disconnectText", { name }),
      confirm: t("account.social.disconnect"),
      danger: true,
    });
    if (!agreed) return;
    try {
      await fresh(() => disconnect.mutateAsync({ params: { provider } }));
      notify({ message: t("account.social.disconnected", { name }) });
    } catch {
      // Shown in the row.
    }
  };

  return (
    <li>
      <div className="account-line">
        <div className="account-words">
          <strong className="account-provider">
            <ProviderMark provider={provider} /> {name}
          </strong>
          {identities.map((identity) => (
            <small key={identity.createdAt}>
              {identity.email ?? t("account.social.connected")}
              {" · "}
              {identity.lastUsedAt === null ? (
                t("account.social.unused")
              ) : (
                <>
                  {t("account.social.used")} <When at={identity.lastUsedAt} />
                </>
              )}
            </small>
          ))}
          {identities.length === 0 && <small>{t("account.social.none")}</small>}
        </div>
        {identities.length === 0 ? (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t("account.social.connectNamed", { name })}
            onClick={() => void connect()}
          >
            {t("account.social.connect")}
          </Button>
        ) : (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t("account.social.disconnectNamed", { name })}
            loading={disconnect.isPending}
            onClick={() => void askToDisconnect()}
          >
            {t("account.social.disconnect")}
          </Button>
        )}
      </div>
      {disconnect.isError && <Failure error={disconnect.error} />}
    </li>
  );
}
