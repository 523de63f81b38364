import type { SocialProvider } from "../../../../../server/features/sign-in/social/contract.ts";

const names: Record<SocialProvider, string> = { google: "Google", microsoft: "Microsoft" };

export const providerName = (provider: SocialProvider) => names[provider];

/** A letter or four squares: enough to find the button by. */
export function ProviderMark({ provider }: { provider: SocialProvider }) {
  return provider === "google" ? (
    <svg
      width="18"
      height="18"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2.4"
      aria-hidden="true"
    >
      <path d="M20.5 12H12.5M20.5 12a8.5 8.5 0 1 1-2.6-6.1" />
    </svg>
  ) : (
    <svg width="18" height="18" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">
      <path d="M3 3h8.3v8.3H3zM12.7 3H21v8.3h-8.3zM3 12.7h8.3V21H3zM12.7 12.7H21V21h-8.3z" />
    </svg>
  );
}
