/** The mark: a signature's flourish inside a seal. */
export function Mark({ size = 26 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <circle cx="16" cy="16" r="14" stroke="currentColor" strokeWidth="2.2" />
      <path
        d="M8 19.5c2.6 0 4.6-9 7-9 2 0-.4 9 1.8 9 1.7 0 2.3-4.4 3.9-4.4 1.2 0 .6 3.4 3.3 3.4"
        stroke="currentColor"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
      <path d="M9.5 23.6h13" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" opacity=".55" />
    </svg>
  );
}

export function Brand({ href }: { href?: string }) {
  const inside = (
    <>
      <Mark />
      Signet
    </>
  );
  return href ? (
    <a className="brand" href={href}>
      {inside}
    </a>
  ) : (
    <span className="brand">{inside}</span>
  );
}
