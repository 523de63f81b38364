import type { Config } from "../../../config.ts";
import { notFound } from "../../../kernel/errors.ts";
import { type SocialProvider, socialProviders } from "./contract.ts";

/** Which accounts elsewhere sign people in here, as the operator has set it up. */

export type ProviderSetting = { issuer: string; clientId: string; clientSecret: string };

function settingOf(config: Config, provider: SocialProvider): ProviderSetting | null {
  const [clientId, clientSecret, issuer] =
    provider === "google"
      ? [config.socialGoogleClientId, config.socialGoogleClientSecret, config.socialGoogleIssuer]
      : [config.socialMicrosoftClientId, config.socialMicrosoftClientSecret, config.socialMicrosoftIssuer];
  return clientId && clientSecret ? { clientId, clientSecret, issuer } : null;
}

export function configuredProviders(config: Config): SocialProvider[] {
  return socialProviders.filter((provider) => settingOf(config, provider) !== null);
}

/** @throws AppError `not-found` when it is not set up */
export function requireProvider(config: Config, provider: SocialProvider): ProviderSetting {
  const setting = settingOf(config, provider);
  if (setting === null) throw notFound("This way to sign in");
  return setting;
}
