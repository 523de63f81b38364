import type { ReactNode } from "react";

function icon(paths: ReactNode, size: number) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {paths}
    </svg>
  );
}

type Props = { size?: number };

export const Check = ({ size = 20 }: Props) => icon(<path d="M5 12.5l4.5 4.5L19 7.5" />, size);
export const Pen = ({ size = 20 }: Props) =>
  icon(<path d="M4 20c3-1 4-2 5-3l10-10a2 2 0 0 0-3-3L6 14c-1 1-1 3-2 6zM14 6l4 4" />, size);
export const Clock = ({ size = 20 }: Props) =>
  icon(
    <>
      <circle cx="12" cy="12" r="9" />
      <path d="M12 7v5l3.5 2" />
    </>,
    size,
  );
export const Cross = ({ size = 20 }: Props) => icon(<path d="M6 6l12 12M18 6L6 18" />, size);
export const Download = ({ size = 20 }: Props) => icon(<path d="M12 4v11m-5-5l5 5 5-5M5 20h14" />, size);
export const Clip = ({ size = 20 }: Props) =>
  icon(
    <path d="M20 11.5l-8.2 8.2a5 5 0 0 1-7-7l8.4-8.4a3.3 3.3 0 0 1 4.7 4.7l-8.4 8.4a1.7 1.7 0 0 1-2.4-2.4L15 7.3" />,
    size,
  );
export const Picture = ({ size = 20 }: Props) =>
  icon(
    <>
      <rect x="3.5" y="5" width="17" height="14" rx="2" />
      <path d="M4 16l4.5-4.5 4 4 2.5-2.5 5 5" />
      <circle cx="15.5" cy="9.5" r="1.2" />
    </>,
    size,
  );
export const Mail = ({ size = 20 }: Props) =>
  icon(
    <>
      <rect x="3.5" y="5.5" width="17" height="13" rx="2" />
      <path d="M4 7l8 6 8-6" />
    </>,
    size,
  );
export const Shield = ({ size = 20 }: Props) =>
  icon(<path d="M12 3l7.5 3v5.5c0 4.6-3.2 8-7.5 9.5-4.3-1.5-7.5-4.9-7.5-9.5V6L12 3zM8.8 12l2.3 2.3 4.2-4.4" />, size);
export const Question = ({ size = 20 }: Props) =>
  icon(
    <>
      <circle cx="12" cy="12" r="9" />
      <path d="M9.5 9.3a2.6 2.6 0 1 1 3.6 2.4c-.8.4-1.1.9-1.1 1.8M12 16.8v.01" />
    </>,
    size,
  );
export const Pages = ({ size = 20 }: Props) =>
  icon(
    <path d="M7 3.5h7l4.5 4.5v11a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 19V5A1.5 1.5 0 0 1 7 3.5zM14 3.5V8h4.5" />,
    size,
  );
