 ;; -- nothing
 /* ; */ ;
