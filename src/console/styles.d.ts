/** A style sheet that one console has for itself (desk/main.tsx). */
declare module '*.css?data';
