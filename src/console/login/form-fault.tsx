export function FormFault({ text }: { readonly text: string }) {
  if (text === '') return null;
  return (
    <p class="fault" role="alert" data-testid="login-error">
      {text}
    </p>
  );
}
