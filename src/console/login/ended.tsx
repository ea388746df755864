/** Why the session before ended; nothing when none did. */
export function Ended({ text }: { readonly text: string }) {
  if (text === '') return null;
  return (
    <p class="note" role="status" data-testid="login-ended">
      {text}
    </p>
  );
}
